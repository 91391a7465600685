import type { Handler } from '../handler.ts'

export const getIssuerMetadata: Handler<'getIssuerMetadata'> = async ({ app, reply }) => reply(200, {
  issuer: app.configuration.TOKEN_ISSUER,
  jwks_uri: new URL('/v1/.well-known/jwks.json', app.configuration.TOKEN_ISSUER).href,
  token_endpoint: new URL('/v1/oauth/token', app.configuration.TOKEN_ISSUER).href,
  token_endpoint_auth_methods_supported: ['client_secret_post'],
  grant_types_supported: ['client_credentials'],
  response_types_supported: ['none'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})
