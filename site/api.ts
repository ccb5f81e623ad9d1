// The server that the page came from, and the token of this tab.

import { PlantStoreClient, PlantStoreError } from './client.js'
import { quoted } from './shell.js'

interface ConnectOptions {
  /** By default the token of this tab. */
  readonly secret?: string
  readonly fetch?: typeof fetch
}

const tokenKey = 'plantstore-token'

export const token = {
  get: (): string => sessionStorage.getItem(tokenKey) ?? '',
  keep: (secret: string): void => sessionStorage.setItem(tokenKey, secret),
  forget: (): void => sessionStorage.removeItem(tokenKey),
}

/** A client for the reader of a page, who does not want to wait for long. */
export function connect({ secret = token.get(), fetch }: ConnectOptions = {}): PlantStoreClient {
  return new PlantStoreClient({
    url: new URL('.', document.baseURI),
    token: secret,
    triesMax: 3,
    timeoutMs: 15_000,
    fetch,
  })
}

/** The HTTP status of a call that failed; undefined when there was no answer. */
export function statusOf(refusal: unknown): number | undefined {
  return refusal instanceof PlantStoreError ? refusal.status : undefined
}

/** What there is to say of a call that failed. */
export function wordsOf(refusal: unknown): string {
  const isAnswer = refusal instanceof PlantStoreError && refusal.status !== undefined
  return isAnswer ? refusal.message : 'the server cannot be reached; try again'
}

/** A request as a command that can be pasted into a shell where TOKEN is set. */
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
