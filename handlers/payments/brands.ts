import type { Brand } from '../../domain/publicCheckoutView.ts'
import type { Runtime } from '../../domain/runtime.ts'
import type { TenantDirectory } from '../../providers/tenantDirectory.ts'

/** How tenants present themselves, for operations that cannot wait for identity because they hold a connection. */
export interface Brands {
  /** What is known now; null: nothing. Asks identity beside the caller where nothing is known. */
  known(tenantId: string): Brand | null
  /** Waits, a second at most, for what is being asked; null when nothing is. */
  underWay(): Promise<void> | null
}

/** As long as the directory itself keeps an answer (decision 2). */
const keepMs = 60_000
/** While identity is away, payers do not wait for it again and again. */
const keepFailureMs = 5000
const waitMs = 1000
const keptAtMost = 10_000

/** Brands by tenant, asked of the directory in the background. A tenant that is unknown or cannot be asked has none. */
export function brands(tenants: TenantDirectory, runtime: Pick<Runtime, 'now' | 'sleep'>): Brands {
  const kept = new Map<string, { brand: Brand | null, until: number }>()
  const asked = new Map<string, Promise<void>>()

  const keep = (tenantId: string, brand: Brand | null, milliseconds: number): void => {
    if (kept.size >= keptAtMost) kept.clear()
    kept.set(tenantId, { brand, until: runtime.now().getTime() + milliseconds })
  }

  const ask = async (tenantId: string): Promise<void> => {
    try {
      const branding = (await tenants.find(tenantId))?.branding
      keep(tenantId, branding ? { display_name: branding.display_name, logo_url: branding.logo_url, accent_hex: branding.accent_hex } : null, keepMs)
    } catch {
      keep(tenantId, null, keepFailureMs)
    } finally {
      asked.delete(tenantId)
    }
  }

  return {
    known(tenantId) {
      const found = kept.get(tenantId)
      if (found && runtime.now().getTime() < found.until) return found.brand
      if (!asked.has(tenantId)) asked.set(tenantId, ask(tenantId))
      return null
    },
    underWay() {
      if (asked.size === 0) return null
      return Promise.race([Promise.all(asked.values()).then(() => undefined), runtime.sleep(waitMs)])
    },
  }
}
