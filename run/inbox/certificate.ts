import { X509Certificate, createPrivateKey } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { writePrivateFile } from '../privateFile.ts'

/** Files of the receiver, in the folder of the run. */
export interface ReceiverFiles {
  certificate: string
  key: string
  /** What senders of webhooks are to trust: the certificate, behind whatever they are told to trust from outside. */
  trusted: string
}

const dayMs = 86_400_000
const lifeDays = 3650
const leastDaysLeft = 7

/**
 * The certificate of the run's own receiver: that of an earlier run, or a new one when there is none that serves still.
 * `trustedOutside` is the PEM file that WEBHOOK_CA_FILE names outside; empty: none. Throws when that cannot be read.
 */
export async function receiverFiles(directory: string, trustedOutside: string, now: Date): Promise<ReceiverFiles> {
  const at = (name: string): string => join(directory, name)
  const files = { certificate: at('inbox-certificate.pem'), key: at('inbox-key.pem'), trusted: at('webhook-ca.pem') }
  if (!serves(files, now)) {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
      keyType: 'ec', curve: 'P-256', algorithm: 'sha256',
      notBeforeDate: new Date(now.getTime() - dayMs), notAfterDate: new Date(now.getTime() + lifeDays * dayMs),
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }, { type: 7, ip: '127.0.0.1' }, { type: 7, ip: '::1' }] }],
    })
    writePrivateFile(files.key, key)
    writeFileSync(files.certificate, cert)
  }
  const outside = trustedOutside === '' ? '' : `${readFileSync(trustedOutside, 'utf8').trimEnd()}\n`
  writeFileSync(files.trusted, outside + readFileSync(files.certificate, 'utf8'))
  return files
}

/** Whether there is a certificate with its key, good for some days still. */
function serves({ certificate, key }: ReceiverFiles, now: Date): boolean {
  if (!existsSync(certificate) || !existsSync(key)) return false
  try {
    const kept = new X509Certificate(readFileSync(certificate))
    return kept.validToDate.getTime() - now.getTime() > leastDaysLeft * dayMs && kept.checkPrivateKey(createPrivateKey(readFileSync(key)))
  } catch {
    // What cannot be read is as good as none.
    return false
  }
}
