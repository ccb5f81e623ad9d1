// Gets the keys of an identity provider, a JSON Web Key Set (RFC 7517), from its URL or from a file. How much may come is
// bounded, as the provider may be broken or an impostor.

import { createReadStream } from 'node:fs'
import type { FetchImplementation, JSONWebKeySet, JWK } from 'jose'
import { messageOf } from '../domain/errors.ts'

export function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

/**
 * Gives the public keys by which signatures can be verified; anything else in the set is ignored.
 *
 * @param place a URL, or the path of a file.
 * @param options of the request; a file is read until their signal, too.
 * @throws Error whose message goes on where "the keys at PLACE" ends.
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
    // Leaving the loop ends the transfer.
    if (bytes > bytesMax) throw new Error(`are longer than the ${bytesMax} bytes allowed`)
    chunks.push(chunk)
  }
  const keys = parse(Buffer.concat(chunks))?.keys
  if (!Array.isArray(keys)) throw new Error('are not a JSON Web Key Set')
  return { keys: keys.filter(isForSignatures) }
}

async function* fetchBytes(url: string, options: RequestInit): AsyncIterable<Uint8Array> {
  try {
    // jose has redirects not followed: one could lead from TLS to plain text, or to a host inside the operator's network.
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

/** Neither secrets (`oct`), nor private keys, nor keys for encryption. */
function isForSignatures(key: JWK | null): key is JWK {
  if (!['RSA', 'EC', 'OKP'].includes(String(key?.kty))) return false
  return !('d' in (key as JWK)) && (key?.use === undefined || key.use === 'sig')
}

/** The message of `fetch` says only that it failed. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error)
}
