// Authentication: turns the Authorization header into a Caller that has the scopes of the operation (RFC 6750);
// records which tokens are used.

import type { Caller, Scope } from '../domain/caller.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { TokenStore } from '../domain/store.ts'
import {
  callerOf,
  dayOf,
  hashSecret,
  invalidToken,
  isTokenValid,
  isWellFormedSecret,
  type Token,
} from '../domain/token.ts'
import type { Limits } from '../limits.ts'

/**
 * Returns the caller, synchronously if the credential was looked up recently.
 *
 * @throws AppError `missingToken`, `invalidToken` (one message for all reasons), `insufficientScope`, or `issuerAway` for
 * a JWT whose key is unknown while its issuer is unreachable.
 *
 * @param guard wraps the look-up of a credential that was not valid recently. It may throw instead.
 */
export type Authenticate = (
  authorization: string | undefined,
  scopes: readonly Scope[],
  guard?: GuardLookUp,
) => Caller | Promise<Caller>

export type GuardLookUp = (lookUp: () => Promise<Caller>) => Promise<Caller>

/** Returns the caller of a JWT. Rejects with AppError `invalidToken` or `issuerAway`. */
export type VerifyJwt = (token: string) => Promise<Caller>

/** The scheme's name is case-insensitive (RFC 9110, section 11.1); the token is a b64token (RFC 6750, section 2.1). */
const credentialsPattern = /^Bearer +([\w~+/.-]+=*) *$/i
const bearerPattern = /^Bearer +\S/i
/** A JWT in compact form: header, claims and signature (RFC 7515, section 3.1). */
const jwtPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** @param verifyJwt absent if JWTs are not accepted. */
export function createAuthenticate(
  store: Pick<TokenStore, 'findToken'>,
  clock: Clock,
  limits: Limits,
  verifyJwt?: VerifyJwt,
): Authenticate {
  const { tokenTrustMs, trustedTokensMax, jwtTrustMs, trustedJwtsMax, trustedJwtCharactersMax } = limits
  const tokens = trustedCallers(clock, tokenTrustMs, trustedTokensMax)
  const jwts = trustedCallers(clock, jwtTrustMs, trustedJwtsMax, trustedJwtCharactersMax)
  const findFamiliar = familiarCredentials(trustedTokensMax)
  const verify = verifyJwt && onceAtATime(verifyJwt)

  return (authorization, scopes, guard) => {
    const caller = trustedCaller(authorization)
    if (caller !== undefined) return admit(caller, scopes)
    const secret = readSecret(authorization)
    const isOwn = isWellFormedSecret(secret)
    if (!isOwn && (verify === undefined || !jwtPattern.test(secret))) throw invalidToken()
    // Spellings of the header vary, for example in spaces; normalise it so that each credential is cached once.
    const usual = `Bearer ${secret}`
    const callerOfAnother = trustedCaller(usual)
    if (callerOfAnother !== undefined) return admit(callerOfAnother, scopes)
    const find = () => (isOwn || verify === undefined ? lookUp(store, secret) : verify(secret))
    const finding = guard === undefined ? find() : findFamiliar(secret, find, guard)
    return finding.then((found) => {
      const trusted = isOwn ? tokens : jwts
      trusted.add(usual, found)
      return admit(found, scopes)
    })
  }

  function trustedCaller(authorization: string | undefined): Caller | undefined {
    if (authorization === undefined) return undefined
    const caller = tokens.find(authorization)
    return caller === undefined && verify !== undefined ? jwts.find(authorization) : caller
  }

  function admit(caller: Caller, scopes: readonly Scope[]): Caller {
    if (clock.wallMs() >= caller.validUntilMs) throw invalidToken()
    if (!scopes.every((scope) => caller.scopes.includes(scope))) {
      throw new AppError(
        'insufficientScope',
        `the token needs the scope ${scopes.join(' ')}, but has ${caller.scopes.join(' ') || 'none'}`,
        { caller },
      )
    }
    return caller
  }
}

async function lookUp(store: Pick<TokenStore, 'findToken'>, secret: string): Promise<Caller> {
  // Looked up by hash, so that timing reveals nothing about secrets.
  const token = await store.findToken(hashSecret(secret))
  const caller = token && callerOf(token)
  if (caller === undefined) throw invalidToken()
  return caller
}

/** Verifies a JWT once for all concurrent requests that carry it. */
function onceAtATime(verifyJwt: VerifyJwt): VerifyJwt {
  const underWay = new Map<string, Promise<Caller>>()
  return (jwt) => {
    const verifying = underWay.get(jwt) ?? verifyJwt(jwt).finally(() => underWay.delete(jwt))
    underWay.set(jwt, verifying)
    return verifying
  }
}

/** Recently authenticated callers, keyed by the normalised header. All entries expire together. */
function trustedCallers(clock: Clock, trustMs: number, callersMax: number, charactersMax = Number.POSITIVE_INFINITY) {
  const callers = new Map<string, Caller>()
  let characters = 0
  let untilMs = 0
  return {
    find: (authorization: string): Caller | undefined =>
      clock.monotonicMs() < untilMs ? callers.get(authorization) : undefined,
    add: (authorization: string, caller: Caller): void => {
      const nowMs = clock.monotonicMs()
      const isFull = callers.size >= callersMax || characters + authorization.length > charactersMax
      if (nowMs >= untilMs || isFull) {
        callers.clear()
        characters = 0
        untilMs = nowMs + trustMs
      }
      if (!callers.has(authorization)) characters += authorization.length
      callers.set(authorization, caller)
    },
  }
}

/**
 * Returns a function that finds the caller of a credential. Only those that were valid recently, at most `countMax`, do
 * not go through the guard.
 */
function familiarCredentials(countMax: number) {
  /** Hashes, so that credentials are not kept in memory for long. */
  const hashes = new Set<string>()
  return async (secret: string, find: () => Promise<Caller>, guard: GuardLookUp): Promise<Caller> => {
    const hash = hashSecret(secret).toString('base64')
    try {
      const caller = await (hashes.has(hash) ? find() : guard(find))
      hashes.delete(hash)
      const [oldest] = hashes
      if (oldest !== undefined && hashes.size >= countMax) hashes.delete(oldest)
      hashes.add(hash)
      return caller
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalidToken') hashes.delete(hash)
      throw error
    }
  }
}

function readSecret(authorization: string | undefined): string {
  const secret = authorization === undefined ? undefined : credentialsPattern.exec(authorization)?.[1]
  if (secret !== undefined) return secret
  if (authorization !== undefined && bearerPattern.test(authorization)) throw invalidToken()
  throw new AppError('missingToken', 'Authorization: a bearer token is needed, as in "Authorization: Bearer plt_..."')
}

/**
 * Records the day on which each token was last used. A look-up reveals whether today is already recorded. New days are
 * written together after a delay, once per token, so that no request waits for the write.
 */
export function recordTokenUses(
  store: Pick<TokenStore, 'findToken' | 'noteTokenUses'>,
  clock: Clock,
  { tokenUsesMs, trustedTokensMax }: Pick<Limits, 'tokenUsesMs' | 'trustedTokensMax'>,
) {
  /** Unwritten days by token id. */
  let days = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  return { findToken, stop }

  /** Looks up a request's token, and marks a valid one as used. */
  async function findToken(hash: Uint8Array): Promise<Token | undefined> {
    const token = await store.findToken(hash)
    if (token !== undefined && isTokenValid(token, clock.wallMs())) use(token)
    return token
  }

  /** Writes the pending days; resolves when they are written or the write failed. Later uses are not recorded. */
  function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    return write()
  }

  function use({ id, lastUsedDay = -1 }: Token): void {
    const day = dayOf(clock.wallMs())
    if (isStopped || day <= lastUsedDay || days.size >= trustedTokensMax) return
    days.set(id, day)
    timer ??= setTimeout(() => {
      timer = undefined
      void write()
    }, tokenUsesMs).unref()
  }

  async function write(): Promise<void> {
    if (days.size === 0) return
    const written = days
    days = new Map()
    // A store that cannot write may still answer. The next look-up of each token finds its day missing and tries again.
    await store.noteTokenUses(written).catch(() => {})
  }
}
