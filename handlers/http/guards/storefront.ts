import { domainToASCII } from 'node:url'
import { ApiError } from '../../../domain/apiError.ts'
import type { Exchange, Guard, Site } from '../exchange.ts'
import type { CallerKind } from '../operation.ts'

/** What a storefront service answers the guards of its buyer's side with. */
export interface SiteQuestions {
  /** The storefront at a hostname; null for an unknown host, a suspended tenant, a storefront that is off, or when it cannot be told. */
  siteAt(host: string): Promise<Site | null>
  /** Whether a feature is on for the store. */
  featureOn(site: Site, feature: string): Promise<boolean>
  /** Whether the shop is open now. */
  isOpen(site: Site, now: Date): Promise<boolean>
  /** Whether the solved challenge holds; true once for each. */
  captchaSolved(token: string, exchange: Exchange): Promise<boolean>
}

const byHost: readonly CallerKind[] = ['bff', 'shopper']

/** Tenant and store come from Host alone; whatever is wrong is the one neutral 404 (decisions 1.7 and 8.1). */
export function host(questions: SiteQuestions | undefined): Guard {
  return {
    name: 'host',
    enforces: ['x-caller'],
    compile(operation) {
      if (!byHost.includes(operation.caller.kind)) return null
      if (!questions) throw new Error(`${operation.id}: this service knows no storefronts, so nothing enforces x-caller`)
      return async (exchange) => {
        const site = await questions.siteAt(hostnameOf(exchange.header('host') ?? ''))
        if (!site) throw new ApiError('not_found')
        exchange.site = site
      }
    },
  }
}

/** `x-feature`: a switched-off feature answers 404 feature_disabled. Every shopper operation also needs buyer_accounts (decision 8.8). */
export function feature(questions: SiteQuestions | undefined): Guard {
  return {
    name: 'feature',
    enforces: ['x-feature'],
    compile(operation) {
      const own = operation.rules.get('x-feature') as string | undefined
      const needed = [...(operation.caller.kind === 'shopper' ? ['buyer_accounts'] : []), ...(own === undefined ? [] : [own])]
      if (needed.length === 0) return null
      if (!questions) throw new Error(`${operation.id}: this service knows no features, so nothing enforces x-feature`)
      return async (exchange) => {
        for (const name of needed) {
          if (!(await questions.featureOn(siteOf(exchange), name))) throw new ApiError('feature_disabled')
        }
      }
    },
  }
}

/** `x-when-closed`: a buyer write answers 409 while the shop is closed. */
export function openShop(questions: SiteQuestions | undefined): Guard {
  return {
    name: 'openShop',
    enforces: ['x-when-closed'],
    compile(operation) {
      if (operation.rules.get('x-when-closed') !== 'refuse') return null
      if (!questions) throw new Error(`${operation.id}: this service knows no opening hours, so nothing enforces x-when-closed`)
      return async (exchange) => {
        if (!(await questions.isOpen(siteOf(exchange), exchange.now))) throw new ApiError('storefront_closed')
      }
    },
  }
}

/** `x-captcha`: fails closed, whatever is missing or goes wrong (brief, storefront: Authentication 3). */
export function captcha(questions: SiteQuestions | undefined): Guard {
  return {
    name: 'captcha',
    enforces: ['x-captcha'],
    compile(operation) {
      if (operation.rules.get('x-captcha') !== true) return null
      if (!questions) throw new Error(`${operation.id}: this service verifies no captcha, so nothing enforces x-captcha`)
      return async (exchange) => {
        const token = exchange.header('x-marketplace-captcha-token')
        const solved = token !== undefined && await questions.captchaSolved(token, exchange).catch(() => false)
        if (!solved) throw new ApiError('captcha_required')
      }
    },
  }
}

/** Host header to hostname: port off, lower case, IDN to ASCII, a trailing dot off. */
export function hostnameOf(header: string): string {
  const name = header.replace(/:\d+$/, '').replace(/\.$/, '')
  return domainToASCII(name.toLowerCase())
}

function siteOf(exchange: Exchange): Site {
  if (!exchange.site) throw new Error(`${exchange.operation.id}: the host guard must run before this one`)
  return exchange.site
}
