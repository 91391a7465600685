import { expect, test } from 'vitest'
import { callbackObserver, createLog } from './log.ts'
import { createMetrics } from './metrics.ts'

const about = { id: '0192f3c4-7a10-7c3e-9d52-1f6b8a40e0c1', provider: 'simulator', detail: null }

function observed() {
  const lines: string[] = []
  const metrics = createMetrics('worker')
  const log = createLog('worker', { LOG_LEVEL: 'info' }, { write: (line: string) => lines.push(line) })
  return { observer: callbackObserver(log, metrics.observeCallback), metrics, levels: () => lines.map((line) => (JSON.parse(line) as { level: number }).level) }
}

test('what a person should see is warned of: money that does not fit, and what is given up', () => {
  const { observer, levels } = observed()
  for (const outcome of ['mismatched', 'unmatched', 'unconfirmed'] as const) observer.processed({ ...about, outcome, waits: false })
  expect(levels()).toEqual([40, 40, 40])
})

test('what goes well, and what is tried again, is only told', () => {
  const { observer, levels } = observed()
  for (const outcome of ['applied', 'repeated', 'ignored'] as const) observer.processed({ ...about, outcome, waits: false })
  for (const outcome of ['unmatched', 'unconfirmed'] as const) observer.processed({ ...about, outcome, waits: true })
  expect(levels()).toEqual([30, 30, 30, 30, 30])
})

test('every callback is counted by provider and by what became of it', async () => {
  const { observer, metrics } = observed()
  observer.processed({ ...about, outcome: 'unmatched', waits: true })
  observer.processed({ ...about, outcome: 'unmatched', waits: false })
  const labels = 'provider="simulator",outcome="unmatched",waits="false",process="worker"'
  expect(await metrics.registry.metrics()).toContain(`bayar_provider_callbacks_total{${labels}} 1\n`)
})

test('a failure is an error with what it was about', () => {
  const { observer, levels } = observed()
  observer.failed(new Error('broken'), { provider: 'simulator', callbackId: about.id })
  expect(levels()).toEqual([50])
})
