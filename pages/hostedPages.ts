import type { MakePages } from '../handlers/http/pageHandler.ts'
import type { PageSurroundings } from '../handlers/service.ts'
import { checkoutPages } from './checkoutPages.ts'
import { answerDocs } from './docs/docsPages.ts'
import { seeOther } from './sendPage.ts'

/** Every page of the payments service: the hosted checkout, the documentation, and the way there from the front door. */
export function hostedPages(surroundings: PageSurroundings): MakePages {
  const makeCheckout = checkoutPages(surroundings)
  return (pipeline) => {
    const checkout = makeCheckout(pipeline)
    return async (request, response) => {
      const path = URL.parse(request.url ?? '/', 'http://pages.invalid')?.pathname
      if (path === undefined) return false
      if (path === '/' && (request.method === 'GET' || request.method === 'HEAD')) {
        seeOther(response, '/docs')
        return true
      }
      return await answerDocs(request, response, path) || checkout(request, response)
    }
  }
}
