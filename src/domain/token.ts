// Access tokens: format, generation, and the stored form.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Caller, Scope } from './caller.ts'
import { AppError } from './errors.ts'

/** A stored token: a SHA-256 instead of the secret. Times are milliseconds since 1970, by the wall clock. */
export interface Token {
  /** Public identifier, `tok_` and 12 characters. Reveals nothing about the secret. */
  readonly id: string
  /** SHA-256 of the secret, 32 bytes. */
  readonly hash: Uint8Array
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAtMs: number
  /** Absent if the token does not expire. */
  readonly expiresAtMs?: number
  /** Absent unless the token was revoked. */
  readonly revokedAtMs?: number
  readonly replacedBy?: string
  /** The day of its last use, in whole days since 1970 (UTC). Absent if it was never used. */
  readonly lastUsedDay?: number
}

/** A token as it is stored. Each write increments the version; that of a new one is 0. */
export interface StoredToken extends Token {
  readonly version: number
}

const dayMs = 86_400_000

/** Converts a wall clock time to whole days since 1970 (UTC). */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs)
}

/** Formats a day as a date, such as 2026-11-22. */
export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretPattern = /^plt_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/**
 * Makes the secret of a token: `plt_`, 43 base62 digits that encode 256 random bits, and 6 base62 digits of their
 * CRC-32. The checksum identifies mistyped and truncated tokens without a store lookup.
 *
 * @param randomBytes 32 cryptographically random bytes.
 */
export function mintSecret(randomBytes: Uint8Array): string {
  if (randomBytes.length !== 32) throw new TypeError(`a secret takes 32 random bytes, got ${randomBytes.length}`)
  const digits = toBase62(BigInt(`0x${Buffer.from(randomBytes).toString('hex')}`), 43)
  return `plt_${digits}${checksum(digits)}`
}

/** Makes the public id of a token or a webhook from 9 random bytes. */
export function mintId(prefix: 'tok' | 'hook', randomBytes: Uint8Array): string {
  if (randomBytes.length !== 9) throw new TypeError(`an id takes 9 random bytes, got ${randomBytes.length}`)
  return `${prefix}_${toBase62(BigInt(`0x${Buffer.from(randomBytes).toString('hex')}`) % 62n ** 12n, 12)}`
}

/** Whether a text has the format of a token and a valid checksum. */
export function isWellFormedSecret(text: string): boolean {
  const match = secretPattern.exec(text)
  return match?.[1] !== undefined && checksum(match[1]) === match[2]
}

/** The SHA-256 of a secret, 32 bytes: the stored form, and the key for lookups. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The caller that a token authenticates; undefined if it was revoked. */
export function callerOf({
  id,
  name,
  scopes,
  expiresAtMs = Number.POSITIVE_INFINITY,
  revokedAtMs,
}: Token): Caller | undefined {
  return revokedAtMs === undefined ? { id, name, scopes, validUntilMs: expiresAtMs } : undefined
}

/** Whether a token is neither revoked nor expired at a wall clock time. */
export function isTokenValid(token: Token, nowMs: number): boolean {
  return token.revokedAtMs === undefined && (token.expiresAtMs === undefined || nowMs < token.expiresAtMs)
}

/** The error for a rejected token, whose message is the same for all reasons. @param reason for the log only. */
export function invalidToken(reason?: string): AppError {
  const message = 'Authorization: the token is unknown, malformed, expired or revoked'
  return new AppError('invalidToken', message, reason === undefined ? {} : { cause: reason })
}

function checksum(digits: string): string {
  return toBase62(BigInt(crc32(digits)), 6)
}

function toBase62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = base62.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}
