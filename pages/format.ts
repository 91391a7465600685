import type { Language } from './language.ts'

/** Whole rupiah as Indonesians write them, in every language: `Rp 150.000`. */
export function rupiah(amountIdr: number): string {
  return `Rp ${new Intl.NumberFormat('id-ID').format(amountIdr)}`
}

/** A moment in western Indonesian time, to the minute. */
export function moment(time: string, language: Language): string {
  const format = new Intl.DateTimeFormat(language === 'id' ? 'id-ID' : 'en-GB', {
    timeZone: 'Asia/Jakarta', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23',
  })
  return `${format.format(new Date(time))} WIB`
}

/** The time from `now` to a deadline as a clock: `29:59`, with hours where there are any, with days before it. `day` and `days` are those words. */
export function timeLeft(deadline: string, now: Date, { day, days }: { day: string, days: string }): string {
  const left = Math.max(0, Math.floor((Date.parse(deadline) - now.getTime()) / 1000))
  const [whole, hours] = [Math.floor(left / 86_400), Math.floor(left / 3600) % 24]
  const clock = [...(whole > 0 || hours > 0 ? [hours] : []), Math.floor(left / 60) % 60, left % 60].map((part) => String(part).padStart(2, '0')).join(':')
  return whole > 0 ? `${whole} ${whole === 1 ? day : days} ${clock}` : clock
}

/** A number in groups of four, for reading and typing. */
export function inGroups(digits: string): string {
  return digits.replace(/(.{4})(?=.)/g, '$1 ')
}
