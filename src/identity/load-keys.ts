// Gets the keys of an identity provider, a JSON Web Key Set (RFC 7517), from its URL or from a file. How long that may
// take and how much may come is bounded, as the provider may be slow, broken or an impostor.

import { createReadStream } from 'node:fs'
import type { JSONWebKeySet, JWK } from 'jose'
import { messageOf } from '../domain/errors.ts'

export interface LoadLimits {
  readonly jwksMsMax: number
  readonly jwksBytesMax: number
}

export function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

/**
 * Gives the public keys by which signatures can be verified; anything else in the set is ignored.
 *
 * @param place a URL, or the path of a file.
 * @throws Error whose message goes on where "the keys at PLACE" ends.
 */
export async function loadKeys(place: string, limits: LoadLimits, ended: AbortSignal): Promise<JSONWebKeySet> {
  const timeout = AbortSignal.timeout(limits.jwksMsMax)
  const signal = AbortSignal.any([ended, timeout])
  try {
    const chunks = isUrl(place) ? fetchBytes(place, signal) : readBytes(place, signal)
    return readKeySet(await collect(chunks, limits.jwksBytesMax))
  } catch (cause) {
    if (timeout.aborted) throw new Error(`did not come within ${limits.jwksMsMax} ms`, { cause })
    throw cause
  }
}

async function* fetchBytes(url: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const headers = { accept: 'application/jwk-set+json, application/json' }
  try {
    // A redirect could lead from TLS to plain text, or to a host inside the operator's network.
    const response = await fetch(url, { signal, redirect: 'manual', headers })
    if (response.status === 200 && response.body !== null) return yield* response.body
    await response.body?.cancel()
    const isRedirect = response.status >= 300 && response.status < 400
    throw new Error(`the answer was ${response.status}${isRedirect ? ', a redirect, which is not followed' : ''}`)
  } catch (cause) {
    throw new Error(`cannot be fetched: ${reasonOf(cause)}`, { cause })
  }
}

async function* readBytes(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { signal })
  } catch (cause) {
    throw new Error(`cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const collected: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    // Leaving the loop ends the transfer.
    if (bytes > bytesMax) throw new Error(`are longer than the ${bytesMax} bytes allowed`)
    collected.push(chunk)
  }
  return Buffer.concat(collected)
}

function readKeySet(bytes: Buffer): JSONWebKeySet {
  const set = parse(bytes)
  const keys = isObject(set) ? set['keys'] : undefined
  if (!Array.isArray(keys)) throw new Error('are not a JSON Web Key Set')
  return { keys: keys.filter(isForSignatures) }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new Error('are not JSON', { cause })
  }
}

/** Neither secrets (`oct`), nor private keys, nor keys for encryption. */
function isForSignatures(key: unknown): key is JWK {
  if (!isObject(key) || !['RSA', 'EC', 'OKP'].includes(String(key['kty']))) return false
  return !('d' in key) && (key['use'] === undefined || key['use'] === 'sig')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The message of `fetch` says only that it failed. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error)
}
