// Starts Scalar with the document of the server that the page came from, and keeps it from calling any other server.

import { parseExact } from './exact-json.js'
import { isApi, operationsOf } from './openapi.js'

declare global {
  interface Window {
    /** What site/scalar.js brings, when it has loaded. */
    readonly Scalar?: {
      createApiReference(selector: string, configuration: Readonly<Record<string, unknown>>): void
    }
  }
}

/** Where the paths of the document begin, whatever a proxy puts before them; it has no slash at its end. */
const server = new URL('.', location.href).href.replace(/\/$/, '')

const documentUrl = `${server}/openapi.json`

await nameTag()
addEventListener('hashchange', nameTag)

if (window.Scalar === undefined) {
  document.body.append('This page cannot be shown, as site/scalar.js did not load. Reload it to try again.')
} else {
  window.Scalar.createApiReference('#reference', {
    url: documentUrl,
    customFetch: fetchExact,
    // The document as it is served; Scalar would write what it has read.
    documentDownloadType: 'direct',
    // The document names other servers, too; the page may reach only its own.
    servers: [{ url: server, description: 'This server' }],
    generateOperationSlug: ({ operationId }: { readonly operationId?: string }) => operationId,
    defaultOpenAllTags: true,
    // These would call others: for fonts, numbers of users, and assistants.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    // The token that the home page keeps for this tab; one that is entered here is kept as long as the page is open.
    authentication: {
      preferredSecurityScheme: 'bearerAuth',
      securitySchemes: { bearerAuth: { token: sessionStorage.getItem('plantstore-token') ?? '' } },
    },
    persistAuth: false,
  })
}

/** `#createPlant` opens its operation, as it does where there is no Scalar, which puts the operation's tag before it. */
async function nameTag(): Promise<void> {
  const name = location.hash.slice(1)
  if (!/^\w+$/.test(name)) return
  const response = await fetch(documentUrl)
  const api: unknown = await response.json()
  if (!isApi(api)) return
  const tag = operationsOf(api).find(({ operationId }) => operationId === name)?.tags[0]
  if (tag !== undefined) location.replace(`#tag/${tag}/${name}`)
}

/**
 * What Scalar sends its requests with. Of the document it would round large integers, which are examples alone, so that
 * it gets them as texts.
 */
async function fetchExact(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  if (response.url !== documentUrl || !response.ok) return response
  const text = JSON.stringify(parseExact(await response.text()), (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  return new Response(text, { headers: { 'Content-Type': 'application/json' } })
}
