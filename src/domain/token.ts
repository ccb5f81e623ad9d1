// Access tokens: how they look, how they are made, and what is kept of them.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Caller, Scope } from './caller.ts'
import { AppError } from './errors.ts'

/** A token as it is kept: its SHA-256 instead of itself. Times are milliseconds since 1970, by the wall clock. */
export interface Token {
  /** Public name for people and logs, `tok_` and 12 characters; says nothing about the secret. */
  readonly id: string
  /** SHA-256 of the secret, 32 bytes. */
  readonly hash: Uint8Array
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAtMs: number
  /** Absent: the token does not expire. */
  readonly expiresAtMs?: number
  /** Absent: the token has not been revoked. */
  readonly revokedAtMs?: number
  /** The id of the token that was made in its place. */
  readonly replacedBy?: string
  /** The last day on which it was used, in whole days since 1970 (UTC). Absent: it has not been used. */
  readonly lastUsedDay?: number
}

const dayMs = 86_400_000

/** The day of a moment of the wall clock, in whole days since 1970 (UTC). */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs)
}

/** A day as a date, such as 2026-11-22. */
export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretPattern = /^plt_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/**
 * Makes the secret text of a token: `plt_`, 43 base62 digits that carry 256 random bits, and 6 base62 digits of their
 * CRC-32, by which a mistyped or cut token is told from an unknown one without asking the store.
 *
 * @param randomBytes 32 bytes from a cryptographic source.
 */
export function mintSecret(randomBytes: Uint8Array): string {
  if (randomBytes.length !== 32) throw new TypeError(`a secret takes 32 random bytes, got ${randomBytes.length}`)
  const digits = toBase62(BigInt(`0x${Buffer.from(randomBytes).toString('hex')}`), 43)
  return `plt_${digits}${checksum(digits)}`
}

/** Makes the public id of a token from 9 random bytes. */
export function mintTokenId(randomBytes: Uint8Array): string {
  if (randomBytes.length !== 9) throw new TypeError(`a token id takes 9 random bytes, got ${randomBytes.length}`)
  return `tok_${toBase62(BigInt(`0x${Buffer.from(randomBytes).toString('hex')}`) % 62n ** 12n, 12)}`
}

/** Whether a text has the form of a token and its checksum holds. */
export function isWellFormedSecret(text: string): boolean {
  const match = secretPattern.exec(text)
  return match?.[1] !== undefined && checksum(match[1]) === match[2]
}

/** What is kept of a secret, and what it is looked up by: its SHA-256, 32 bytes. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The caller that a token makes; undefined when it has been revoked. */
export function callerOf({
  id,
  name,
  scopes,
  expiresAtMs = Number.POSITIVE_INFINITY,
  revokedAtMs,
}: Token): Caller | undefined {
  return revokedAtMs === undefined ? { id, name, scopes, validUntilMs: expiresAtMs } : undefined
}

/** Whether a token holds at a moment of the wall clock: neither revoked nor expired. */
export function isTokenValid(token: Token, nowMs: number): boolean {
  return token.revokedAtMs === undefined && (token.expiresAtMs === undefined || nowMs < token.expiresAtMs)
}

/**
 * The refusal of a token of any kind. Its text is the same for all reasons.
 *
 * @param reason for the log alone.
 */
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
