/** The pattern of ILIKE that finds `text` anywhere, taken literally: % and _ stand for themselves. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
