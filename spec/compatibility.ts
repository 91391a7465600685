import { isDeepStrictEqual } from 'node:util'
import { inRepository, redocly } from './documents.ts'
import type { Document, Operation } from './house/openapi.ts'
import { operationsOf } from './house/openapi.ts'

interface Verdict { ruleId: string; impact: string; message: string }

interface Change {
  path: string
  verdicts: Verdict[]
  base?: { value?: unknown }
  revision?: { value?: unknown }
}

const inErrorBody = /\/responses\/[45]\d\d\/content\/application~1json\/schema/

/**
 * Whether a change that `redocly diff` calls breaking is only a further code of an error status: the code itself, or a
 * member of the other codes that is no longer always there. Errors are told apart by their code, so this breaks nobody
 * (decision 1.9).
 */
function isFurtherCode(change: Change, verdict: Verdict): boolean {
  if (!inErrorBody.test(change.path)) return false
  if (verdict.ruleId === 'enum-values-added') return change.path.endsWith('/schema/properties/error')
  if (verdict.ruleId !== 'required-properties-removed' || !change.path.endsWith('/schema')) return false
  const kept = (change.revision?.value ?? []) as string[]
  return ['error', 'message', 'request_id'].every((name) => kept.includes(name))
}

/** Keys that narrow who or what an operation serves: adding one takes something away. */
const NARROWING = ['x-environment', 'x-module', 'x-step-up', 'x-feature', 'x-when-closed', 'x-captcha'] as const

/** What `redocly diff` cannot judge: rules that are x- keys. Widening passes, narrowing does not. */
export function narrowedRules(base: Document, revision: Document): string[] {
  const now = new Map(operationsOf(revision).map(({ operation }) => [operation.operationId, operation]))
  return operationsOf(base).flatMap(({ operation: before }) => {
    const after = now.get(before.operationId)
    return after ? narrowed(before, after).map((what) => `${before.operationId}: ${what}`) : []
  })
}

/** Bytes that an operation reads: 256 KiB, uploads 10 MiB, unless it says otherwise (decision 5.7). */
function maxBodyOf(operation: Operation): number {
  const body = operation.requestBody
  const uploads = body && !('$ref' in body) && Object.keys(body.content ?? {}).includes('multipart/form-data')
  return operation['x-max-body'] ?? (uploads ? 10_485_760 : 262_144)
}

function narrowed(before: Operation, after: Operation): string[] {
  const added = NARROWING.filter((key) => after[key] !== undefined && after[key] !== before[key])
  const [most, mostNow] = [maxBodyOf(before), maxBodyOf(after)]
  const [was, is] = [before['x-caller'], after['x-caller']]
  const sameScopes = was?.scope?.every((scope) => is?.scope?.includes(scope)) ?? true
  const admitted = is?.kind === 'public' || (was?.kind === is?.kind && was?.permission === is?.permission && sameScopes)
  return [
    ...added.map((key) => `${key} is now ${String(after[key])}`),
    ...(mostNow < most ? [`the largest body went from ${most} to ${mostNow} bytes`] : []),
    ...(before['x-idempotency'] && !after['x-idempotency'] ? ['x-idempotency is gone'] : []),
    ...(isDeepStrictEqual(was, is) || admitted ? [] : [`x-caller no longer admits whom it did`]),
  ]
}

/** Every breaking change from one bundled document to another, readable; both are given by path and content. */
export async function breakingChanges(
  base: { path: string; document: Document }, revision: { path: string; document: Document },
): Promise<string[]> {
  const run = await redocly(['diff', base.path, revision.path, '--config', inRepository('spec/diff.redocly.yaml'),
    '--format', 'json', '--fail-on', 'none'])
  if (run.code !== 0 || run.stderr.includes('No diff rules are on')) {
    throw new Error(`redocly diff failed.\n${run.stderr}`)
  }
  const { changes } = JSON.parse(run.stdout) as { changes: Change[] }
  const found = changes.flatMap((change) => change.verdicts
    .filter((verdict) => verdict.impact === 'major' && !isFurtherCode(change, verdict))
    .map((verdict) => `${verdict.message} (${verdict.ruleId} at ${change.path})`))
  return [...found, ...narrowedRules(base.document, revision.document)]
}
