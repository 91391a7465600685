const messages = {
    missing: 'There is no X-Service-Signature.',
    malformed: 'The signature header, or the signed body, has not the form that deliveries have.',
    stale: 'The signature was made too long ago, or in the future.',
    mismatch: 'None of the secrets made the signature over these bytes.',
};
const refused = (reason) => ({ ok: false, reason, message: messages[reason] });
/**
 * Whether a request is a delivery signed with one of your secrets, and the event that it brings. `rawBody` is the body
 * byte for byte as it came, never JSON that was parsed and written anew. Several secrets are for the time in which you
 * change from one to the next. Throws TypeError when an argument is not what it should be; a bad request never throws.
 */
export async function verify(rawBody, headers, secrets, { toleranceSeconds = 300, now = new Date() } = {}) {
    const body = bytesOf(rawBody);
    const keys = await keysOf(secrets);
    const current = valuesOf(headers, 'X-Service-Signature');
    const previous = valuesOf(headers, 'X-Service-Signature-Previous');
    if (current.length === 0)
        return refused('missing');
    if (current.length > 1 || previous.length > 1)
        return refused('malformed');
    let signedBy;
    for (const [name, values] of [['current', current], ['previous', previous]]) {
        for (const value of values) {
            const signature = signatureOf(value);
            if (!signature)
                return refused('malformed');
            if (!(Math.abs(now.getTime() / 1000 - Number(signature.t)) <= toleranceSeconds))
                return refused('stale');
            if (await isMadeBy(keys, signature, body))
                signedBy ??= name;
        }
    }
    if (!signedBy)
        return refused('mismatch');
    const event = eventOf(body);
    return event ? { ok: true, event, signedBy } : refused('malformed');
}
function bytesOf(body) {
    if (typeof body === 'string')
        return new TextEncoder().encode(body);
    if (body instanceof Uint8Array)
        return body;
    if (body instanceof ArrayBuffer)
        return new Uint8Array(body);
    throw new TypeError('rawBody must be the bytes of the body as they came (or their text), not parsed JSON');
}
/** The secrets as HMAC keys: their UTF-8 bytes as shown, `whsec_` included. */
async function keysOf(secrets) {
    const list = typeof secrets === 'string' ? [secrets] : secrets;
    if (!Array.isArray(list) || list.length === 0 || list.some((secret) => typeof secret !== 'string' || secret === '')) {
        throw new TypeError('secrets must be the signing secret, or a list of them');
    }
    const { subtle } = await webCrypto();
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    return Promise.all(list.map((secret) => subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify'])));
}
/** Node 18 has it, and not as a global. */
async function webCrypto() {
    return globalThis.crypto ?? (await import('node:crypto')).webcrypto;
}
function valuesOf(headers, name) {
    if (typeof headers !== 'object' || headers === null)
        throw new TypeError('headers must be those of the request');
    if (typeof headers.get === 'function') {
        const value = headers.get(name);
        return typeof value === 'string' ? [value] : [];
    }
    const wanted = name.toLowerCase();
    const values = Object.entries(headers).filter(([key]) => key.toLowerCase() === wanted).flatMap(([, value]) => value);
    return values.filter((value) => typeof value === 'string');
}
/** Reads `t=<unix seconds>,v1=<64 hex digits in lower case>`. Names that are not known are let pass, doubles are not. */
function signatureOf(header) {
    const parts = header.split(',').map((part) => /^([a-z][a-z0-9]*)=([^\s=]+)$/.exec(part));
    if (parts.includes(null))
        return null;
    const only = (name) => parts.filter((part) => part?.[1] === name).map((part) => part?.[2]).join();
    const [t, v1] = [only('t'), only('v1')];
    if (!/^[1-9]\d{0,11}$/.test(t) || !/^[0-9a-f]{64}$/.test(v1))
        return null;
    return { t, v1: Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(v1.slice(2 * index, 2 * index + 2), 16)) };
}
/** Web Crypto compares a signature in constant time. */
async function isMadeBy(keys, { t, v1 }, body) {
    const { subtle } = await webCrypto();
    const begin = new TextEncoder().encode(`${t}.`);
    const signed = new Uint8Array(begin.length + body.length);
    signed.set(begin);
    signed.set(body, begin.length);
    const made = await Promise.all(keys.map((key) => subtle.verify('HMAC', key, v1, signed)));
    return made.includes(true);
}
function eventOf(body) {
    try {
        const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
        return typeof value?.id === 'string' && typeof value.event === 'string' ? value : null;
    }
    catch {
        return null;
    }
}
