import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { channelCodes, channelOf, isChannelCode } from '../domain/channels.ts'
import type { Language } from './language.ts'
import { defaultSteps, stepMethods } from './stepMethods.ts'
import type { Steps } from './stepMethods.ts'

/** A channel's own picture. */
export interface ChannelLogo {
  /** Part of its address; changes with the content. */
  name: string
  type: string
  body: Buffer
}

/** How a channel is shown to payers. Names are null where those of the channel's table hold. */
export interface ChannelDisplay {
  name: Readonly<Record<Language, string>> | null
  logo: ChannelLogo | null
  steps: Steps
}

export type ChannelDisplays = ReadonlyMap<string, ChannelDisplay>

const logoTypes: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png', '.webp': 'image/webp' }
/** All logos together, in bytes: a page's first paint has 50 KB in all. */
const logosAtMost = 8192
const longestText = 200
const mostSteps = 12

/**
 * How channels are shown: the neutral defaults, changed by the JSON file of CHANNEL_DISPLAY_FILE (docs/channels.md). An
 * empty path reads none. Throws an Error that names the file and the place in it where something is wrong.
 */
export function readChannelDisplays(path: string): ChannelDisplays {
  const displays = new Map<string, ChannelDisplay>(channelCodes.map((code) => [code, { name: null, logo: null, steps: defaultSteps[channelOf(code).kind] ?? {} }]))
  if (path === '') return displays
  const refuse = (place: string, reason: string): never => {
    throw new Error(`CHANNEL_DISPLAY_FILE ${path}: ${place} ${reason}`)
  }
  let logoBytes = 0
  for (const [code, entry] of Object.entries(members(readJson(path, refuse), 'the file', refuse))) {
    if (!isChannelCode(code)) refuse(code, `is no channel; there are ${channelCodes.join(', ')}`)
    const given = members(entry, code, refuse)
    for (const name of Object.keys(given)) if (!['name', 'logo', 'steps'].includes(name)) refuse(`${code}.${name}`, 'is unknown; known are name, logo and steps')
    const standard = displays.get(code)
    const logo = given.logo === undefined ? null : readLogo(path, given.logo, `${code}.logo`, refuse)
    logoBytes += logo?.body.length ?? 0
    if (logoBytes > logosAtMost) refuse(`${code}.logo`, `makes the logos larger than ${logosAtMost} bytes together`)
    displays.set(code, {
      name: given.name === undefined ? null : inLanguages(given.name, `${code}.name`, refuse, text),
      logo,
      steps: given.steps === undefined ? standard?.steps ?? {} : readSteps(given.steps, `${code}.steps`, refuse),
    })
  }
  return displays
}

type Refuse = (place: string, reason: string) => never

function readJson(path: string, refuse: Refuse): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return refuse('it', `cannot be read: ${(error as Error).message}`)
  }
}

function members(value: unknown, place: string, refuse: Refuse): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : refuse(place, 'must be an object')
}

function text(value: unknown, place: string, refuse: Refuse): string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longestText ? value : refuse(place, `must be a text of 1 to ${longestText} characters`)
}

/** What is said in both languages, and in no other. */
function inLanguages<Value>(value: unknown, place: string, refuse: Refuse, read: (value: unknown, place: string, refuse: Refuse) => Value): Record<Language, Value> {
  const given = members(value, place, refuse)
  for (const name of Object.keys(given)) if (name !== 'id' && name !== 'en') refuse(`${place}.${name}`, 'is no language of the pages; they are id and en')
  return { id: read(given.id, `${place}.id`, refuse), en: read(given.en, `${place}.en`, refuse) }
}

function readSteps(value: unknown, place: string, refuse: Refuse): Steps {
  const given = members(value, place, refuse)
  return Object.fromEntries(Object.entries(given).map(([method, steps]) => {
    if (!stepMethods.some((known) => known === method)) refuse(`${place}.${method}`, `is unknown; known are ${stepMethods.join(', ')}`)
    return [method, inLanguages(steps, `${place}.${method}`, refuse, lines)]
  }))
}

function lines(value: unknown, place: string, refuse: Refuse): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostSteps) return refuse(place, `must be a list of 1 to ${mostSteps} texts`)
  return value.map((line, at) => text(line, `${place}[${at}]`, refuse))
}

/** The file is beside the configuration, or where its path says. */
function readLogo(path: string, value: unknown, place: string, refuse: Refuse): ChannelLogo {
  const file = text(value, place, refuse)
  const extension = extname(file).toLowerCase()
  const type = logoTypes[extension] ?? refuse(place, `must be a file of ${Object.keys(logoTypes).join(', ')}`)
  try {
    const body = readFileSync(resolve(dirname(path), file))
    return { name: `logo-${createHash('sha256').update(body).digest('hex').slice(0, 12)}${extension}`, type, body }
  } catch (error) {
    return refuse(place, `cannot be read: ${(error as Error).message}`)
  }
}
