import { Html } from './html.ts'

/** Lines on 24 units, which the style sheet draws in the colour of the text beside; what they say stands in words, so they are hidden from readers. */
const strokes = {
  paid: '<circle cx="12" cy="12" r="10"/><path d="m7.5 12.5 3 3 6-6.5"/>',
  failed: '<path d="M8 2h8l6 6v8l-6 6H8l-6-6V8z"/><path d="m9 9 6 6m0-6-6 6"/>',
  expired: '<path d="M6 2h12M6 22h12M7 2v4l10 12v4M17 2v4L7 18v4"/>',
  cancelled: '<circle cx="12" cy="12" r="10"/><path d="M7 12h10"/>',
  reversed: '<path d="M4 9h11a5 5 0 0 1 0 10H9"/><path d="M8 4 3 9l5 5"/>',
  trouble: '<path d="M12 3 1.8 21h20.4z"/><path d="M12 10v5m0 2.6v.4"/>',
  missing: '<circle cx="10.5" cy="10.5" r="7.5"/><path d="m16 16 6 6M8 10.5h5"/>',
  unknown: '<rect x="2" y="2" width="20" height="20" rx="4"/><path d="M9 9a3 3 0 1 1 3.8 2.9c-.5.2-.8.7-.8 1.3v1m0 2.6v.4"/>',
  qris: '<path d="M3 3h7v7H3zM14 3h7v7h-7zM3 14h7v7H3zM14 14h3v3h-3zM18 18h3v3h-3z"/>',
  va: '<path d="m3 9 9-6 9 6zM5 9v9m5-9v9m4-9v9m5-9v9M3 21h18"/>',
  ewallet: '<rect x="3" y="6" width="18" height="14" rx="2"/><path d="M17 6V4L5 6m16 5h-5a2 2 0 0 0 0 4h5"/>',
  otc: '<path d="M4 10v10h16V10M3 4h18l1 6H2zM10 20v-6h4v6"/>',
  paylater: '<rect x="3" y="5" width="18" height="16" rx="2"/><path d="M8 2v5m8-5v5M3 11h18m-9 3v2l2 2"/>',
  card: '<rect x="2" y="5" width="20" height="14" rx="2"/><path d="M2 10h20M6 15h4"/>',
  cash: '<rect x="2" y="6" width="20" height="12" rx="2"/><circle cx="12" cy="12" r="3"/>',
  lock: '<rect x="5" y="11" width="14" height="10" rx="2"/><path d="M8 11V7a4 4 0 0 1 8 0v4"/>',
} as const

export type IconName = keyof typeof strokes

/** Whether there is an icon of that name. */
export function isIconName(name: string): name is IconName {
  return Object.hasOwn(strokes, name)
}

/** An icon, 24 pixels unless the style sheet says otherwise. */
export function icon(name: IconName): Html {
  return new Html(`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${strokes[name]}</svg>`)
}
