// Starts Scalar with the document of this server, and keeps it from calling any other server.

import { parseExact } from './exact-json.js'
import { isApi, operationsOf } from './openapi.js'

declare global {
  interface Window {
    /** The global that site/scalar.js defines. */
    readonly Scalar?: {
      createApiReference(selector: string, configuration: Readonly<Record<string, unknown>>): void
    }
  }
}

/** The base URL of the document's paths, behind any proxy prefix, without a trailing slash. */
const server = new URL('.', location.href).href.replace(/\/$/, '')

const documentUrl = `${server}/openapi.json`

await nameTag()
addEventListener('hashchange', nameTag)

if (window.Scalar === undefined) {
  document.body.append('This page cannot be shown because site/scalar.js did not load. Reload it to try again.')
} else {
  window.Scalar.createApiReference('#reference', {
    url: documentUrl,
    customFetch: fetchExact,
    // Offer the document as served; Scalar would download its own rendering.
    documentDownloadType: 'direct',
    // The document also names other servers, which the page's policy blocks.
    servers: [{ url: server, description: 'This server' }],
    generateOperationSlug: ({ operationId }: { readonly operationId?: string }) => operationId,
    defaultOpenAllTags: true,
    // These would call third parties for fonts, telemetry and assistants.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    // Use the token that the home page keeps for this tab. A token entered here lasts until the page closes.
    authentication: {
      preferredSecurityScheme: 'bearerAuth',
      securitySchemes: { bearerAuth: { token: sessionStorage.getItem('plantstore-token') ?? '' } },
    },
    persistAuth: false,
  })
}

/** Makes `#createPlant` open its operation, as on our own page. Scalar prefixes the operation's tag. */
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
 * The `fetch` that Scalar uses. Scalar would round large integers in the document; they occur only in examples, so it
 * gets them as strings.
 */
async function fetchExact(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  if (response.url !== documentUrl || !response.ok) return response
  const text = JSON.stringify(parseExact(await response.text()), (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  return new Response(text, { headers: { 'Content-Type': 'application/json' } })
}
