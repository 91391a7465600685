import type { Language } from './language.ts'

interface Texts {
  documentTitle: string
  payTo: string
  amount: string
  suggestedAmount: string
  payBefore: string
  remaining: string
  days: string
  sandbox: string
  choose: string
  chooseAgain: string
  otherMethod: string
  kinds: Record<string, string>
  back: string
  refresh: string
  waiting: string
  waitingByHand: string
  qr: string
  qrAlt: string
  qrSave: string
  va: string
  vaNumber: string
  vaBank: string
  copy: string
  copied: string
  exact: string
  ewallet: string
  openWallet: string
  otc: string
  otcCode: string
  paylater: string
  openPaylater: string
  card: string
  openCard: string
  cash: string
  unknownChannel: string
  failedAttempt: string
  expiredAttempt: string
  noChannel: string
  states: Record<string, { title: string, text: string }>
  late: string
  unknownState: { title: string, text: string }
  notFound: { title: string, text: string }
  refusals: Record<string, string>
  refused: string
  panel: { title: string, text: string, complete: string, decline: string, expire: string, refused: string, silent: string }
  challenge: {
    title: string, text: string, approve: string, decline: string, cancel: string, over: string, elsewhere: string, toPayment: string
  }
}

const id: Texts = {
  documentTitle: 'Pembayaran',
  payTo: 'Bayar kepada',
  amount: 'Jumlah',
  suggestedAmount: 'Jumlah yang disarankan',
  payBefore: 'Bayar sebelum',
  remaining: 'Sisa waktu',
  days: 'hari',
  sandbox: 'Mode uji coba: tidak ada uang yang berpindah.',
  choose: 'Pilih cara bayar',
  chooseAgain: 'Pilih lagi cara bayar',
  otherMethod: 'Ganti cara bayar',
  kinds: {
    qris: 'QRIS', va: 'Transfer virtual account', ewallet: 'Dompet digital', otc: 'Gerai ritel', paylater: 'Bayar nanti', card: 'Kartu', cash: 'Tunai',
  },
  back: 'Kembali ke toko',
  refresh: 'Periksa status',
  waiting: 'Menunggu pembayaran. Halaman ini berganti sendiri setelah pembayaran diterima.',
  waitingByHand: 'Menunggu pembayaran. Setelah membayar, tekan Periksa status.',
  qr: 'Pindai kode QR ini dengan aplikasi bank atau dompet digital apa pun yang mendukung QRIS.',
  qrAlt: 'Kode QR pembayaran',
  qrSave: 'Simpan kode QR',
  va: 'Transfer ke nomor virtual account ini lewat ATM, mobile banking atau internet banking.',
  vaNumber: 'Nomor virtual account',
  vaBank: 'Bank',
  copy: 'Salin',
  copied: 'Tersalin',
  exact: 'Bayar tepat sejumlah ini.',
  ewallet: 'Selesaikan pembayaran di aplikasi dompet digital Anda, lalu kembali ke halaman ini.',
  openWallet: 'Buka dompet digital',
  otc: 'Tunjukkan kode ini kepada kasir gerai dan bayar tunai.',
  otcCode: 'Kode pembayaran',
  paylater: 'Setujui pembayaran di halaman penyedia bayar nanti, lalu kembali ke halaman ini.',
  openPaylater: 'Buka penyedia bayar nanti',
  card: 'Bank penerbit kartu akan meminta Anda menyetujui pembayaran ini.',
  openCard: 'Lanjut ke verifikasi kartu',
  cash: 'Bayar tunai kepada penjual. Penjual mengonfirmasi setelah menerima uang Anda.',
  unknownChannel: 'Cara bayar ini belum dapat ditampilkan di halaman ini.',
  failedAttempt: 'Pembayaran sebelumnya ditolak. Uang Anda tidak terpotong. Silakan coba lagi atau pilih cara lain.',
  expiredAttempt: 'Waktu untuk cara bayar sebelumnya sudah habis. Silakan pilih lagi.',
  noChannel: 'Saat ini tidak ada cara bayar yang tersedia. Silakan hubungi penjual.',
  states: {
    paid: { title: 'Pembayaran berhasil', text: 'Terima kasih. Pembayaran Anda sudah diterima.' },
    failed: { title: 'Pembayaran gagal', text: 'Pembayaran ditolak dan uang Anda tidak terpotong. Silakan kembali ke toko untuk mencoba lagi.' },
    expired: { title: 'Waktu pembayaran habis', text: 'Jangan membayar lagi lewat halaman ini. Jika sudah membayar, penjual akan diberi tahu begitu uang diterima.' },
    cancelled: { title: 'Pembayaran dibatalkan', text: 'Penjual membatalkan pembayaran ini. Jangan membayar lagi lewat halaman ini.' },
    reversed: { title: 'Pembayaran dikembalikan', text: 'Pembayaran ini ditarik kembali oleh penyedia pembayaran. Silakan hubungi penjual.' },
  },
  late: 'Uang diterima setelah batas waktu.',
  unknownState: { title: 'Status pembayaran', text: 'Status pembayaran ini belum dapat dijelaskan di sini. Silakan hubungi penjual.' },
  notFound: { title: 'Pembayaran tidak ditemukan', text: 'Periksa kembali tautan dari penjual.' },
  refusals: {
    provider_declined: 'Penyedia pembayaran menolak cara bayar ini. Silakan pilih cara lain.',
    channel_unavailable: 'Cara bayar ini sedang tidak tersedia. Silakan pilih cara lain.',
    amount_out_of_range: 'Jumlah ini di luar batas cara bayar tersebut. Silakan pilih cara lain.',
    unavailable: 'Penyedia pembayaran belum menjawab. Silakan pilih lagi sebentar lagi; Anda tidak akan ditagih dua kali.',
    rate_limited: 'Terlalu banyak permintaan. Tunggu sebentar, lalu coba lagi.',
    invalid_state: 'Pembayaran sudah berubah.',
  },
  refused: 'Permintaan tidak dapat diproses. Silakan coba lagi.',
  panel: {
    title: 'Panel uji coba', text: 'Hanya ada di sandbox: bertindak sebagai pembayar atau penyedia.',
    complete: 'Bayar', decline: 'Tolak', expire: 'Habiskan waktu', refused: 'Penyedia simulasi menolak langkah ini.',
    silent: 'Penyedia simulasi belum melapor. Beberapa jumlah uang memang berarti begitu.',
  },
  challenge: {
    title: 'Verifikasi kartu', text: 'Simulasi halaman 3-D Secure dari bank penerbit. Pilih jawaban bank.',
    approve: 'Setujui dengan', decline: 'Tolak dengan', cancel: 'Batal', over: 'Tidak ada verifikasi kartu yang menunggu.',
    elsewhere: 'Selesaikan verifikasi di aplikasi atau halaman bank penerbit kartu Anda.', toPayment: 'Kembali ke pembayaran',
  },
}

const en: Texts = {
  documentTitle: 'Payment',
  payTo: 'Pay to',
  amount: 'Amount',
  suggestedAmount: 'Suggested amount',
  payBefore: 'Pay before',
  remaining: 'Time left',
  days: 'days',
  sandbox: 'Test mode: no money moves.',
  choose: 'Choose how to pay',
  chooseAgain: 'Choose again how to pay',
  otherMethod: 'Pay another way',
  kinds: {
    qris: 'QRIS', va: 'Virtual account transfer', ewallet: 'E-wallet', otc: 'Retail outlet', paylater: 'Pay later', card: 'Card', cash: 'Cash',
  },
  back: 'Back to the shop',
  refresh: 'Check status',
  waiting: 'Waiting for your payment. This page changes by itself once it has arrived.',
  waitingByHand: 'Waiting for your payment. Once you have paid, press Check status.',
  qr: 'Scan this QR code with any bank or e-wallet app that supports QRIS.',
  qrAlt: 'QR code of the payment',
  qrSave: 'Save the QR code',
  va: 'Transfer to this virtual account by ATM, mobile banking or internet banking.',
  vaNumber: 'Virtual account number',
  vaBank: 'Bank',
  copy: 'Copy',
  copied: 'Copied',
  exact: 'Pay exactly this amount.',
  ewallet: 'Finish the payment in your e-wallet app, then come back to this page.',
  openWallet: 'Open the e-wallet',
  otc: 'Show this code to the cashier at the outlet and pay in cash.',
  otcCode: 'Payment code',
  paylater: 'Approve the payment on the pay-later provider\'s page, then come back to this page.',
  openPaylater: 'Open the pay-later provider',
  card: 'The bank that issued your card will ask you to approve this payment.',
  openCard: 'Go on to card verification',
  cash: 'Pay the merchant in cash. The merchant confirms once your money is received.',
  unknownChannel: 'This way to pay cannot be shown on this page yet.',
  failedAttempt: 'The last payment was declined. You were not charged. Try again or choose another way.',
  expiredAttempt: 'The time for the last way to pay is over. Please choose again.',
  noChannel: 'There is no way to pay at present. Please contact the merchant.',
  states: {
    paid: { title: 'Payment received', text: 'Thank you. Your payment has arrived.' },
    failed: { title: 'Payment failed', text: 'The payment was declined and you were not charged. Go back to the shop to try again.' },
    expired: { title: 'Time to pay is over', text: 'Do not pay by this page any more. If you have paid already, the merchant is told as soon as the money arrives.' },
    cancelled: { title: 'Payment cancelled', text: 'The merchant cancelled this payment. Do not pay by this page any more.' },
    reversed: { title: 'Payment taken back', text: 'The payment provider took this payment back. Please contact the merchant.' },
  },
  late: 'The money arrived after the deadline.',
  unknownState: { title: 'State of the payment', text: 'The state of this payment cannot be explained here yet. Please contact the merchant.' },
  notFound: { title: 'Payment not found', text: 'Check the link that the merchant gave you.' },
  refusals: {
    provider_declined: 'The payment provider declined this way to pay. Please choose another.',
    channel_unavailable: 'This way to pay is not available now. Please choose another.',
    amount_out_of_range: 'The amount is outside the limits of that way to pay. Please choose another.',
    unavailable: 'The payment provider has not answered yet. Choose again in a moment; you will not be charged twice.',
    rate_limited: 'Too many requests. Wait a moment, then try again.',
    invalid_state: 'The payment has changed.',
  },
  refused: 'The request could not be processed. Please try again.',
  panel: {
    title: 'Test panel', text: 'Sandbox only: act as the payer or the provider.',
    complete: 'Pay', decline: 'Decline', expire: 'Let it expire', refused: 'The simulated provider refused this move.',
    silent: 'The simulated provider has not reported yet. Some amounts mean just that.',
  },
  challenge: {
    title: 'Card verification', text: 'A simulated 3-D Secure page of the issuing bank. Choose the bank\'s answer.',
    approve: 'Approve with', decline: 'Decline with', cancel: 'Cancel', over: 'No card verification is waiting.',
    elsewhere: 'Finish the verification in the app or on the page of the bank that issued your card.', toPayment: 'Back to the payment',
  },
}

/** Every text of the pages, in each language. */
export const texts: Readonly<Record<Language, Texts>> = { id, en }
