import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** Answers a request for a page. False, and nothing done, when the path is no page's. */
export type PageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

/** Makes the pages of a service; they reach it only by its own pipeline, as anybody does. */
export type MakePages = (pipeline: RequestListener) => PageHandler
