// The server that served the page, and this tab's token.

import { PlantStoreClient, PlantStoreError } from './client.js'
import { quoted } from './shell.js'

interface ConnectOptions {
  /** Defaults to this tab's token. */
  readonly secret?: string
  readonly fetch?: typeof fetch
}

const tokenKey = 'plantstore-token'

export const token = {
  get: (): string => sessionStorage.getItem(tokenKey) ?? '',
  keep: (secret: string): void => sessionStorage.setItem(tokenKey, secret),
  forget: (): void => sessionStorage.removeItem(tokenKey),
}

/** Creates a client with short timeouts, since a person is waiting. */
export function connect({ secret = token.get(), fetch }: ConnectOptions = {}): PlantStoreClient {
  return new PlantStoreClient({
    url: new URL('.', document.baseURI),
    token: secret,
    triesMax: 3,
    timeoutMs: 15_000,
    fetch,
  })
}

/** The HTTP status of a failed call; undefined without an answer. */
export function statusOf(refusal: unknown): number | undefined {
  return refusal instanceof PlantStoreError ? refusal.status : undefined
}

/** The text that explains a failed call. */
export function wordsOf(refusal: unknown): string {
  const isAnswer = refusal instanceof PlantStoreError && refusal.status !== undefined
  return isAnswer ? refusal.message : 'the server cannot be reached; try again'
}

/** Formats a request as a command to paste into a shell where TOKEN is set. */
export function curl(url: string, { method, headers, body }: RequestInit): string {
  const fields = new Headers(headers)
  const shown = ['Content-Type', 'Idempotency-Key'].filter((name) => fields.has(name))
  return [
    `curl -i -X ${method} ${quoted(url)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...shown.map((name) => `-H ${quoted(`${name}: ${fields.get(name)}`)}`),
    `-d ${quoted(String(body))}`,
  ].join(' \\\n  ')
}
