// The server that the page came from, and the token of this tab.

import { PlantStoreClient } from './client.js'
import { quoted } from './shell.js'

const tokenKey = 'plantstore-token'

export const token = {
  get: () => sessionStorage.getItem(tokenKey) ?? '',
  keep: (secret) => sessionStorage.setItem(tokenKey, secret),
  forget: () => sessionStorage.removeItem(tokenKey),
}

/** A client for the reader of a page, who does not want to wait for long. */
export function connect({ secret = token.get(), fetch } = {}) {
  return new PlantStoreClient({
    url: new URL('.', document.baseURI),
    token: secret,
    triesMax: 3,
    timeoutMs: 15_000,
    fetch,
  })
}

/** What there is to say of a call that failed. */
export function wordsOf({ status, message }) {
  return status === undefined ? 'the server cannot be reached; try again' : message
}

/** What forms give as a plant. */
export function plantOf({ id, name, tag }) {
  return { ...(id !== undefined && { id }), name, ...(tag !== '' && { tag }) }
}

/** A request as a command that can be pasted into a shell where TOKEN is set. */
export function curl({ url, method, headers, body }) {
  const shown = ['Content-Type', 'Idempotency-Key'].filter((name) => name in headers)
  return [
    `curl -i -X ${method} ${quoted(url)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...shown.map((name) => `-H ${quoted(`${name}: ${headers[name]}`)}`),
    `-d ${quoted(body)}`,
  ].join(' \\\n  ')
}
