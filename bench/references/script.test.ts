import { expect, it } from 'vitest'
import { pgbenchFile } from './pgbench.ts'
import type { Recorded } from './recorder.ts'
import { scriptOf, sizeOf, without } from './script.ts'

const tenant = '0192f3c4-1a10-7d4f-8e63-6b1d0c42f101'
const recorded = (text: string, values: readonly (string | null)[] = [], flight = 1, connection = 1): Recorded =>
  ({ text, parameters: values.map((value) => ({ type: 0, value })), connection, flight })
const request = (id: string, shortcode: string, at: string): Recorded[] => [
  recorded('begin', [], 1),
  recorded('insert into things values ($1, $2, $3, $4, $5)', [id, tenant, shortcode, at, null], 2),
  recorded('insert into jobs values ($1)', [`{"id":"${id.slice(0, 32)}0001","tenant":"${tenant}"}`], 2),
  recorded('commit', [], 3),
]
const first = request('0192f3c4-8b21-7d4f-8e63-2a7c9b51f202', 'k7q2m9x4ab', '2026-11-02T03:04:05.678Z')
const second = request('0192f3c4-9c32-7a1b-9d44-55e6f7a8b303', 'p3r8t1v6cd', '2026-11-02T03:04:06.789Z')

it('what differs between two recordings is new each time, wherever it stands, and the rest stays', () => {
  const { statements, fresh } = scriptOf(first, second)
  expect(fresh).toEqual([{ kind: 'id', version: '7' }, { kind: 'shortcode' }])
  expect(statements[1]?.parameters.map(({ pieces }) => pieces)).toEqual(
    [[{ fresh: 0 }, 'f202'], [tenant], [{ fresh: 1 }], ['2026-11-02T03:04:05.678Z'], null])
  expect(statements[2]?.parameters[0]?.pieces).toEqual(['{"id":"', { fresh: 0 }, `0001","tenant":"${tenant}"}`])
})

it('recordings of other statements make no script', () => {
  expect(() => scriptOf(first, second.slice(1))).toThrow('other statements')
})

it('statements sent together are waited for once', () => {
  expect(sizeOf(scriptOf(first, second))).toEqual({ statements: 2, flights: 3 })
})

it('a transaction beside the request is left out whole, and only that', () => {
  const beside = [recorded('begin', [], 9, 2), recorded('insert into log values ($1)', ['x'], 10, 2), recorded('update keys set used = true', [], 11, 2), recorded('commit', [], 12, 2)]
  expect(without([...first.slice(0, 2), ...beside, ...first.slice(2)], (text) => text.includes('into log'))).toEqual(first)
})

it('pgbench gets the recorded values as parameters, and counts the new ones up', () => {
  const { text, variables } = pgbenchFile(scriptOf(first, second), [[], ['uuid', 'uuid', 'text', 'timestamptz', 'text'], ['jsonb'], []])
  expect(text).toContain(`insert into things values ((`)
  expect(text).toContain(`'-7000-8000-00000000') || :p0::text)::uuid, :p1::uuid, (`)
  expect(text).toContain('null::text')
  expect(variables).toMatchObject({ p0: 'f202', p1: tenant })
  expect(() => pgbenchFile(scriptOf([recorded('select a[1:n]')], [recorded('select a[1:n]')]), [[]])).toThrow('for a variable')
})
