import type { Guard } from '../../handlers/http/exchange.ts'
import { compileContract } from '../../handlers/http/contract.ts'
import { syntheticDocument } from './syntheticDocument.ts'
import type { SyntheticOperation } from './syntheticDocument.ts'
import { everyGuard } from './syntheticService.ts'

/** Every guard, for documents that are compiled and never asked. */
export const guards = everyGuard({ environment: 'sandbox' }, {} as never, undefined, {} as never, {
  perCaller: 1,
  perAddress: 1,
})

/** Why a document of this one operation is refused; empty when it is not. */
export async function refusal(
  operation: Partial<SyntheticOperation>,
  having: readonly Guard[] = guards,
): Promise<string> {
  return refusalOf(syntheticDocument([{ id: 'thing', 'x-caller': { kind: 'public' }, ...operation }]), having)
}

/** Why a document is refused; empty when it is not. */
export async function refusalOf(document: object, having: readonly Guard[] = guards): Promise<string> {
  return compileContract('synthetic', document, having).then(
    () => '',
    (error: unknown) => (error as Error).message,
  )
}

/** The parts of an operation that takes a body. */
export function withBody(schema: object, type = 'application/json'): Partial<SyntheticOperation> {
  return { method: 'post', requestBody: { required: true, content: { [type]: { schema } } } }
}
