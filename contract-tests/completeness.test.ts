import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import identityBundle from '../generated/identity.json' with { type: 'json' }
import paymentsBundle from '../generated/payments.json' with { type: 'json' }
import storefrontBundle from '../generated/storefront.json' with { type: 'json' }
import { unseenAnswers } from './answersSeen.ts'

interface Bundle {
  paths: Record<string, Record<string, { operationId: string; tags: string[] }>>
}

const root = fileURLToPath(new URL('../', import.meta.url))
const services = {
  payments: paymentsBundle,
  storefront: storefrontBundle,
  identity: identityBundle,
} as unknown as Record<string, Bundle>
const operations = Object.entries(services).flatMap(([service, { paths }]) =>
  Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId, tags: [resource = ''] }) => ({ service, resource, operationId })),
  ),
)

describe.each(operations)('$service: $operationId', ({ service, resource, operationId }) => {
  test('has its spec entry, its handler and its test, each in the folder of its tag', () => {
    const files = [
      `spec/${service}/${resource}/${operationId}.yaml`,
      `handlers/${service}/${resource}/${operationId}.ts`,
      `handlers/${service}/${resource}/${operationId}.test.ts`,
    ]
    expect(files.filter((file) => !existsSync(root + file))).toEqual([])
  })

  test('its test calls it', () => {
    expect(readFileSync(`${root}handlers/${service}/${resource}/${operationId}.test.ts`, 'utf8')).toContain(
      `'${operationId}'`,
    )
  })

  test("its handler is exported by its name and does nothing else's work", () => {
    const text = readFileSync(`${root}handlers/${service}/${resource}/${operationId}.ts`, 'utf8')
    expect(text).toContain(`export const ${operationId}: Handler<'${operationId}'>`)
  })
})

test('no spec entry or handler is left over from an operation that is gone', () => {
  const known = new Set(operations.map(({ service, resource, operationId }) => `${service}/${resource}/${operationId}`))
  const listed = (top: string, ending: string, isEntry: (text: string) => boolean) =>
    Object.keys(services).flatMap((service) =>
      readdirSync(`${root}${top}/${service}`, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .flatMap(({ name: resource }) =>
          readdirSync(`${root}${top}/${service}/${resource}`)
            .filter((file) => file.endsWith(ending) && !file.endsWith('.test.ts'))
            .filter((file) => isEntry(readFileSync(`${root}${top}/${service}/${resource}/${file}`, 'utf8')))
            .map((file) => `${service}/${resource}/${file.slice(0, -ending.length)}`),
        ),
    )
  const entries = [
    ...listed('spec', '.yaml', (text) => /^operationId:/m.test(text)),
    ...listed('handlers', '.ts', (text) => /: Handler<'\w+'> =/.test(text)),
  ]
  expect(entries.filter((entry) => !known.has(entry))).toEqual([])
})

describe('the account of answers that tests have seen', () => {
  const document = {
    paths: {
      '/things': {
        get: {
          operationId: 'getThing',
          responses: {
            200: {},
            404: { $ref: '#/components/responses/Gone' },
            503: { content: { 'application/json': { schema: { properties: { error: { enum: ['unavailable'] } } } } } },
          },
        },
      },
    },
    components: {
      responses: {
        Gone: {
          content: {
            'application/json': { schema: { properties: { error: { enum: ['not_found', 'feature_disabled'] } } } },
          },
        },
      },
    },
  }

  test('names every declared answer that no test has met', () => {
    const seen = 'getThing 200\ngetThing 404 not_found\ngetOther 503 unavailable\n'
    expect(unseenAnswers([document], seen)).toEqual(['getThing 404 feature_disabled', 'getThing 503 unavailable'])
    expect(unseenAnswers([document], `${seen}getThing 503 unavailable\ngetThing 404 feature_disabled\n`)).toEqual([])
    expect(unseenAnswers([document], '')).toHaveLength(4)
  })
})
