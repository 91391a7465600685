import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import type { Configuration } from '../domain/configuration.ts'
import { webhookUrlProblem } from '../domain/publicAddress.ts'
import type { Runtime } from '../domain/runtime.ts'
import { imageTypeOf } from './imageType.ts'
import { nameResolver } from './nameResolver.ts'
import type { ResolveName } from './nameResolver.ts'
import { guardedConnector } from './webhookSender.ts'

export interface BrandLogo {
  type: string
  body: Buffer
}

/** Merchants' logos, which stand on other hosts, fetched here so that payers' browsers ask no other host for them. */
export interface BrandLogos {
  /** The logo, or null: it is not fit to be shown, or not here within half a second. Never throws. */
  find(url: string): Promise<BrandLogo | null>
  close(): Promise<void>
}

export interface BrandLogosOptions {
  /** Lets loopback and private networks through. */
  allowPrivate: boolean
  /** PEM of a further CA. */
  ca?: string
  /** Stands in for the name service. */
  resolve?: ResolveName
  runtime: Pick<Runtime, 'now' | 'sleep'>
}

/** A page's first paint has 50 KB in all. */
const largest = 12_288
const fetchMs = 3000
/** Who pays does not wait for a picture; the next visitor sees it. */
const patienceMs = 500
const keepMs = 3_600_000
const keepFailureMs = 60_000
const keptAtMost = 500
const fetchedAtOnce = 8
const largestHead = 8192

/** The logos of a process, as it is configured. */
export function brandLogosOf({ WEBHOOK_ALLOW_PRIVATE, WEBHOOK_CA_FILE }: Configuration, runtime: Pick<Runtime, 'now' | 'sleep'>): BrandLogos {
  return brandLogos({
    allowPrivate: WEBHOOK_ALLOW_PRIVATE === 'on', runtime, ...(WEBHOOK_CA_FILE !== '' && { ca: readFileSync(WEBHOOK_CA_FILE, 'utf8') }),
  })
}

/**
 * Logos by address: over https from public addresses alone (decision 6.8), no redirect followed, PNG, JPEG or WebP by what
 * the bytes are, at most 12 KiB. Kept an hour; what failed is asked again after a minute.
 */
export function brandLogos({ allowPrivate, ca, resolve = nameResolver(allowPrivate), runtime }: BrandLogosOptions): BrandLogos {
  const agent = new Agent({ connect: guardedConnector(allowPrivate, resolve, ca, fetchMs), allowH2: false, pipelining: 0, maxHeaderSize: largestHead, headersTimeout: 0, bodyTimeout: 0 })
  const kept = new Map<string, { logo: BrandLogo | null, until: number }>()
  const underWay = new Map<string, Promise<BrandLogo | null>>()

  const load = async (url: string): Promise<BrandLogo | null> => {
    const logo = await fetched(url, agent).catch(() => null)
    // The oldest goes first: a Map keeps the order of insertion.
    for (const old of kept.keys()) if (kept.size >= keptAtMost) kept.delete(old)
    kept.delete(url)
    kept.set(url, { logo, until: runtime.now().getTime() + (logo ? keepMs : keepFailureMs) })
    underWay.delete(url)
    return logo
  }

  return {
    async find(url) {
      const found = kept.get(url)
      if (found && runtime.now().getTime() < found.until) return found.logo
      if (webhookUrlProblem(url, allowPrivate) !== null) return null
      if (!underWay.has(url)) {
        if (underWay.size >= fetchedAtOnce) return found?.logo ?? null
        underWay.set(url, load(url))
      }
      return Promise.race([underWay.get(url) ?? null, runtime.sleep(patienceMs).then(() => found?.logo ?? null)])
    },
    close: () => agent.destroy(),
  }
}

async function fetched(url: string, dispatcher: Agent): Promise<BrandLogo | null> {
  const answer = await request(url, { dispatcher, headers: { accept: 'image/png, image/jpeg, image/webp' }, signal: AbortSignal.timeout(fetchMs) })
  const parts: Buffer[] = []
  let length = 0
  if (answer.statusCode === 200) {
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length > largest) break
    }
  }
  answer.body.on('error', () => undefined).destroy()
  if (length === 0 || length > largest) return null
  const body = Buffer.concat(parts)
  const type = imageTypeOf(body)
  return type === null ? null : { type, body }
}
