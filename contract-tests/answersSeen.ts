import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Declared {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, object> }>>
  components?: { responses?: Record<string, object> }
}

/**
 * Declared answers that need not be met by a test, as `<operationId> <status> <code>`, each with its reason. The
 * list may only shrink; `exemptMost` is its length.
 */
export const exemptAnswers: ReadonlyMap<string, string> = new Map([])
export const exemptMost = 0

/** The declared answers of the documents, `<operationId> <status> [<code>]`, that `seen` does not list. */
export function unseenAnswers(documents: readonly object[], seen: string): string[] {
  const met = new Set(seen.split('\n'))
  return documents.flatMap((document) => declaredAnswers(document as Declared)).filter((answer) => !met.has(answer))
}

function declaredAnswers({ paths, components }: Declared): string[] {
  const resolved = (response: object): object => {
    const name = '$ref' in response ? (String(response.$ref).split('/').at(-1) ?? '') : undefined
    return name === undefined ? response : (components?.responses?.[name] ?? {})
  }
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const codes = codesOf(resolved(response))
        return Number(status) < 400
          ? [`${operationId} ${status}`]
          : codes.map((code) => `${operationId} ${status} ${code}`)
      }),
    )
}

function codesOf(response: object): readonly string[] {
  const { content } = response as {
    content?: Record<string, { schema?: { properties?: { error?: { enum?: string[] } } } }>
  }
  return content?.['application/json']?.schema?.properties?.error?.enum ?? []
}

/**
 * Starts the account of answers in a full run (BAYAR_FULL_RUN): the harness notes every answer it has checked. The
 * function that comes back ends the account, and says what is missing; null when nothing is, or outside of a full run.
 */
export function openAccount(environment: NodeJS.ProcessEnv): (documents: readonly object[]) => string | null {
  if (!environment.BAYAR_FULL_RUN) return () => null
  const folder = mkdtempSync(join(tmpdir(), 'bayar-answers-'))
  const file = join(folder, 'seen')
  writeFileSync(file, '')
  environment.BAYAR_ANSWERS_SEEN = file
  return (documents) => {
    const unseen = unseenAnswers(documents, readFileSync(file, 'utf8'))
    rmSync(folder, { recursive: true })
    delete environment.BAYAR_ANSWERS_SEEN
    const missing = unseen.filter((answer) => !exemptAnswers.has(answer))
    const idle = [...exemptAnswers.keys()].filter((answer) => !unseen.includes(answer))
    const problems = [
      ...missing.map((answer) => `no test has met ${answer}`),
      ...idle.map((answer) => `${answer} is exempt and need not be: take it off the list`),
      ...(exemptAnswers.size > exemptMost ? ['the exemptions may only shrink'] : []),
    ]
    return problems.length === 0 ? null : `Declared answers:\n  ${problems.join('\n  ')}`
  }
}
