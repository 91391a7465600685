import type { ChannelKind } from '../domain/channels.ts'
import type { Language } from './language.ts'

/** Where a payer takes the steps. */
export type StepMethod = 'mobile' | 'atm' | 'internet' | 'counter'

/** What to do, one step after another. `{bank}`, `{number}` and `{amount}` stand for those of the payment. */
export type Steps = Readonly<Partial<Record<StepMethod, Readonly<Record<Language, readonly string[]>>>>>

export const stepMethods: readonly StepMethod[] = ['mobile', 'atm', 'internet', 'counter']

const transfer: Steps = {
  mobile: {
    id: ['Buka aplikasi mobile banking Anda.', 'Pilih Transfer, lalu Virtual Account {bank}.', 'Masukkan nomor {number}.', 'Periksa nama penjual dan jumlah {amount}.', 'Masukkan PIN dan simpan bukti bayar.'],
    en: ['Open your mobile banking app.', 'Choose Transfer, then Virtual Account {bank}.', 'Enter the number {number}.', 'Check the merchant\'s name and the amount {amount}.', 'Enter your PIN and keep the receipt.'],
  },
  atm: {
    id: ['Masukkan kartu dan PIN Anda.', 'Pilih Transaksi lain, Transfer, lalu Virtual Account {bank}.', 'Masukkan nomor {number}.', 'Periksa nama penjual dan jumlah {amount}, lalu setujui.', 'Ambil kartu dan simpan bukti bayar.'],
    en: ['Insert your card and enter your PIN.', 'Choose Other transactions, Transfer, then Virtual Account {bank}.', 'Enter the number {number}.', 'Check the merchant\'s name and the amount {amount}, then confirm.', 'Take your card and keep the receipt.'],
  },
  internet: {
    id: ['Masuk ke internet banking Anda.', 'Pilih Transfer, lalu Virtual Account {bank}.', 'Masukkan nomor {number}.', 'Periksa nama penjual dan jumlah {amount}.', 'Setujui dengan kode dari bank Anda dan simpan bukti bayar.'],
    en: ['Sign in to your internet banking.', 'Choose Transfer, then Virtual Account {bank}.', 'Enter the number {number}.', 'Check the merchant\'s name and the amount {amount}.', 'Approve with the code from your bank and keep the receipt.'],
  },
}

const counter: Steps = {
  counter: {
    id: ['Datang ke kasir gerai sebelum batas waktu.', 'Katakan bahwa Anda ingin membayar belanja daring.', 'Tunjukkan kode {number} atau barcode-nya.', 'Bayar {amount} dan simpan struknya.'],
    en: ['Go to the outlet\'s cashier before the deadline.', 'Say that you wish to pay for an online order.', 'Show the code {number} or its barcode.', 'Pay {amount} and keep the receipt.'],
  },
}

/** Neutral steps by kind of channel, for channels whose own were not configured. */
export const defaultSteps: Readonly<Partial<Record<string, Steps>>> = { va: transfer, otc: counter } satisfies Partial<Record<ChannelKind, Steps>>
