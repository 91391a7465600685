import type { webhooks } from './events.js';
/** The events by their kind. */
export type WebhookEvents = {
    [Kind in keyof webhooks]: webhooks[Kind]['post']['requestBody']['content']['application/json'];
};
/** A kind of event that this version knows. */
export type WebhookEventKind = keyof WebhookEvents;
/** An event that this version knows, told apart by `event`. New kinds may come: leave one that you do not know alone. */
export type WebhookEvent = WebhookEvents[WebhookEventKind];
/**
 * Why a request is refused. `missing`: it has no X-Service-Signature. `malformed`: a signature header has not exactly one
 * `t` and one `v1`, or the signed body is no event. `stale`: `t` is too far from now. `mismatch`: no secret made the signature.
 */
export type RefusalReason = 'missing' | 'malformed' | 'stale' | 'mismatch';
export interface VerifiedWebhook {
    ok: true;
    /** Deduplicate on its `id`, which every retry and replay of the event has. */
    event: WebhookEvent;
    /** The header that your secret made. `previous` says that the secret was rotated: fetch the new one within 24 hours. */
    signedBy: 'current' | 'previous';
}
export interface RefusedWebhook {
    ok: false;
    reason: RefusalReason;
    /** The reason in words, for your log. Tell the sender nothing but a status such as 400. */
    message: string;
}
/** Headers as `fetch` has them, or as Node has them: values by name, whatever the case. */
export type WebhookHeaders = {
    get(name: string): string | null | undefined;
} | Readonly<Record<string, string | readonly string[] | undefined>>;
export interface VerifyOptions {
    /** How far `t` may be from now, in seconds. Default 300. */
    toleranceSeconds?: number;
    /** The present time. Default: the clock's. */
    now?: Date;
}
/**
 * Whether a request is a delivery signed with one of your secrets, and the event that it brings. `rawBody` is the body
 * byte for byte as it came, never JSON that was parsed and written anew. Several secrets are for the time in which you
 * change from one to the next. Throws TypeError when an argument is not what it should be; a bad request never throws.
 */
export declare function verify(rawBody: string | Uint8Array | ArrayBuffer, headers: WebhookHeaders, secrets: string | readonly string[], { toleranceSeconds, now }?: VerifyOptions): Promise<VerifiedWebhook | RefusedWebhook>;
