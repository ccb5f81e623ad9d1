// Loads the JSON Web Key Set (RFC 7517) of an identity provider from a URL or a file. Limits its size, because the
// provider may be faulty or an impostor.

import { createReadStream } from 'node:fs'
import type { FetchImplementation, JSONWebKeySet, JWK } from 'jose'
import { messageOf } from '../domain/errors.ts'

export function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

/**
 * Returns the public keys that verify signatures; ignores all others.
 *
 * @param place a URL, or the path of a file.
 * @param options of the request; the signal also bounds reading a file.
 * @throws Error whose message continues "the keys at PLACE".
 */
export async function loadKeys(
  place: string,
  bytesMax: number,
  options: Parameters<FetchImplementation>[1],
): Promise<JSONWebKeySet> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of isUrl(place) ? fetchBytes(place, options) : readBytes(place, options)) {
    bytes += chunk.length
    // Leaving the loop aborts the transfer.
    if (bytes > bytesMax) throw new Error(`are longer than the ${bytesMax} bytes allowed`)
    chunks.push(chunk)
  }
  const keys = parse(Buffer.concat(chunks))?.keys
  if (!Array.isArray(keys)) throw new Error('are not a JSON Web Key Set')
  return { keys: keys.filter(isForSignatures) }
}

async function* fetchBytes(url: string, options: RequestInit): AsyncIterable<Uint8Array> {
  try {
    // jose disables redirects: one could lead from TLS to plain text, or to a host in the operator's network.
    const response = await fetch(url, options)
    if (response.status === 200 && response.body !== null) return yield* response.body
    await response.body?.cancel()
    const isRedirect = response.status >= 300 && response.status < 400
    throw new Error(`the answer was ${response.status}${isRedirect ? ', a redirect, which is not followed' : ''}`)
  } catch (cause) {
    throw new Error(`cannot be fetched: ${reasonOf(cause)}`, { cause })
  }
}

async function* readBytes(path: string, { signal }: { readonly signal: AbortSignal }): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { signal })
  } catch (cause) {
    throw new Error(`cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

function parse(bytes: Buffer): { readonly keys?: unknown } | null {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new Error('are not JSON', { cause })
  }
}

/** Excludes secrets (`oct`), private keys and encryption keys. */
function isForSignatures(key: JWK | null): key is JWK {
  if (!['RSA', 'EC', 'OKP'].includes(String(key?.kty))) return false
  return !('d' in (key as JWK)) && (key?.use === undefined || key.use === 'sig')
}

/** The message of `fetch` errors omits the cause. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error)
}
