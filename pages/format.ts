import type { Language } from './language.ts'

/** Whole rupiah as Indonesians write them, in every language: `Rp 150.000`. */
export function rupiah(amountIdr: number): string {
  return `Rp ${new Intl.NumberFormat('id-ID').format(amountIdr)}`
}

/** A moment in western Indonesian time, to the minute. */
export function moment(time: string, language: Language): string {
  const format = new Intl.DateTimeFormat(language === 'id' ? 'id-ID' : 'en-GB', {
    timeZone: 'Asia/Jakarta', day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23',
  })
  return `${format.format(new Date(time))} WIB`
}

/** A number in groups of four, for reading and typing. */
export function inGroups(digits: string): string {
  return digits.replace(/(.{4})(?=.)/g, '$1 ')
}
