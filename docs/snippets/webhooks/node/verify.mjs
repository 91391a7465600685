// Verifies webhooks with what Node brings along. `node verify.mjs vectors.tsv` prints its verdict on each vector.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

const TOLERANCE_SECONDS = 300

/** Takes "t=<unix seconds>,v1=<hex>" apart; null unless there is exactly one of each. */
function parse(header) {
  const parts = header.split(',').map((part) => part.match(/^([a-z][a-z0-9]*)=([^\s=]+)$/))
  if (parts.includes(null)) return null
  const only = (name) => parts.filter((part) => part[1] === name).map((part) => part[2]).join()
  const [t, v1] = [only('t'), only('v1')]
  return /^[1-9][0-9]{0,11}$/.test(t) && /^[0-9a-f]{64}$/.test(v1) ? { t, v1 } : null
}

/** `body` is the raw bytes. `current` and `previous` are the two headers, undefined when absent. `now` is in seconds. */
function verify(body, current, previous, secrets, now) {
  if (current === undefined) return 'missing'
  let genuine = false
  for (const header of [current, previous]) {
    if (header === undefined) continue
    const signature = parse(header)
    if (signature === null) return 'malformed'
    if (Math.abs(now - Number(signature.t)) > TOLERANCE_SECONDS) return 'stale'
    for (const secret of secrets) {
      const expected = createHmac('sha256', secret).update(`${signature.t}.`).update(body).digest()
      if (timingSafeEqual(expected, Buffer.from(signature.v1, 'hex'))) genuine = true
    }
  }
  return genuine ? 'ok' : 'mismatch'
}

for (const line of readFileSync(process.argv[2], 'utf8').trimEnd().split('\n').slice(1)) {
  const [name, verdict, now, secrets, current, previous, body] = line.split('\t')
  const got = verify(Buffer.from(body, 'base64'), current || undefined, previous || undefined, secrets.split(' '), Number(now))
  console.log(`${got.padEnd(10)} ${name}`)
  if (got !== verdict) process.exitCode = 1
}
