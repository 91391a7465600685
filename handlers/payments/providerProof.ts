import { findPspCredential } from '../../db/payments/providerCallbacks.ts'
import { idPattern } from '../../db/ids.ts'
import type { Database } from '../../db/sql.ts'
import { ApiError } from '../../domain/apiError.ts'
import type { SealingKeys } from '../../domain/sealing.ts'
import type { PaymentProvider } from '../../providers/paymentProvider.ts'
import type { Caller } from '../http/caller.ts'
import type { Exchange } from '../http/exchange.ts'
import { readBody } from '../http/requestBody.ts'

/** What a sealed credential is bound to. */
export function credentialIdentity(id: string): string {
  return `psp_credentials:secret:${id}`
}

/** Proves a provider by its own signature under the credential in the path; an unknown credential is 404. */
export function providerProof(database: Database, sealing: SealingKeys, providers: ReadonlyMap<string, PaymentProvider>) {
  return async (exchange: Exchange): Promise<Caller | null> => {
    const { provider: name, credentialId } = exchange.request.params as { provider: string, credentialId: string }
    const provider = providers.get(name)
    const credential = provider && idPattern.test(credentialId) ? await database.query((sql) => findPspCredential(sql, name, credentialId)) : undefined
    if (!provider || !credential) throw new ApiError('not_found')
    await readBody(exchange)
    const secret = sealing.open(credential.secret, credentialIdentity(credential.id)).toString()
    const verdict = provider.verifyCallback({
      method: exchange.request.method, path: exchange.request.originalUrl.split('?')[0] ?? '', headers: exchange.request.headers,
      rawBody: exchange.rawBody ?? Buffer.alloc(0),
    }, secret)
    return verdict.verified ? { kind: 'provider', credentialId, provider: name } : null
  }
}
