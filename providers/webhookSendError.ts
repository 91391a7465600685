/** Why a try failed, in a word that merchants see. */
export type SendError =
  | 'status' | 'redirect' | 'timeout' | 'name_not_resolved' | 'address_refused' | 'connection_refused' | 'connection_reset'
  | 'tls' | 'protocol' | 'connection_failed'

/** The host is, or resolves to, an address that webhooks are not sent to. */
export class AddressRefused extends Error {
  constructor(address: string) {
    super(`${address} is not a public address`)
    this.name = 'AddressRefused'
  }
}

const byCode: Record<string, SendError> = {
  ENOTFOUND: 'name_not_resolved',
  EAI_AGAIN: 'name_not_resolved',
  ENODATA: 'name_not_resolved',
  ESERVFAIL: 'name_not_resolved',
  EREFUSED: 'name_not_resolved',
  EBADNAME: 'name_not_resolved',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ETIMEDOUT: 'timeout',
  ETIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  EPROTO: 'tls',
  // What the client says of an answer that is no answer: status 99, or 101 where nothing was to be upgraded.
  ERR_ASSERTION: 'protocol',
}

// OpenSSL's and Node's names of what is wrong with a certificate or handshake.
const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH|CRL_)/

/** The word for what the connection, the name service or the time limit threw. */
export function sendErrorOf(error: unknown): SendError {
  if (!(error instanceof Error)) return 'connection_failed'
  if (error.name === 'TimeoutError') return 'timeout'
  if (error instanceof AddressRefused) return 'address_refused'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = byCode[code]
  if (known) return known
  if (tlsCode.test(code)) return 'tls'
  if (code.startsWith('HPE_') || error.name === 'HTTPParserError') return 'protocol'
  return error.cause === undefined ? 'connection_failed' : sendErrorOf(error.cause)
}
