import type { StepMethod } from './stepMethods.ts'

/** A heading and what it means. */
export interface Words {
  title: string
  text: string
}

/** What the pages say, in one language. */
export interface Texts {
  documentTitle: string
  /** Name of the other language, in that language. */
  otherLanguage: string
  summary: string
  reference: string
  method: string
  footer: string
  print: string
  payTo: string
  amount: string
  suggestedAmount: string
  payBefore: string
  remaining: string
  day: string
  days: string
  sandbox: string
  choose: string
  chooseAgain: string
  chooseOther: string
  tryAgain: string
  otherMethod: string
  kinds: Record<string, string>
  back: string
  refresh: string
  waiting: string
  waitingByHand: string
  qr: string
  qrAlt: string
  qrSave: string
  qrSaveVector: string
  qrPhone: string
  va: string
  vaNumber: string
  vaBank: string
  copy: string
  copied: string
  steps: string
  stepsOf: Record<StepMethod, string>
  barcodeAlt: string
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
  /** Of an attempt that has ended while the payment is still open. */
  failedAttempt: Words
  expiredAttempt: Words
  /** No answer from the provider. */
  trouble: Words
  busy: Words
  noChannel: Words
  states: Record<string, Words>
  late: string
  unknownState: Words
  notFound: Words
  refusals: Record<string, string>
  refused: string
  panel: { title: string, text: string, complete: string, decline: string, expire: string, late: string, verify: string, refused: string, silent: string }
  challenge: {
    title: string, text: string, panel: string, approve: string, decline: string, cancel: string, over: string, elsewhere: string, toPayment: string
  }
}
