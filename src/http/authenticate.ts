// Authentication: turns the Authorization header into a Caller that has the scopes of the operation (RFC 6750).

import type { Caller, Scope } from '../domain/caller.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { TokenStore } from '../domain/store.ts'
import { callerOf, hashSecret, invalidToken, isWellFormedSecret } from '../domain/token.ts'
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
  const tokens = new TrustedCallers(clock, tokenTrustMs, trustedTokensMax)
  const jwts = new TrustedCallers(clock, jwtTrustMs, trustedJwtsMax, trustedJwtCharactersMax)
  const familiar = new FamiliarCredentials(trustedTokensMax)
  const verify = verifyJwt && onceAtATime(verifyJwt)

  return authenticate

  function authenticate(
    authorization: string | undefined,
    scopes: readonly Scope[],
    guard?: GuardLookUp,
  ): Caller | Promise<Caller> {
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
    const finding = guard === undefined ? find() : familiar.find(secret, find, guard)
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
    if (!isValid(caller)) throw invalidToken()
    if (!hasScopes(caller, scopes)) {
      throw new AppError(
        'insufficientScope',
        `the token needs the scope ${scopes.join(' ')}, but has ${caller.scopes.join(' ') || 'none'}`,
        { caller },
      )
    }
    return caller
  }

  function isValid({ validUntilMs }: Caller): boolean {
    return clock.wallMs() < validUntilMs
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
class TrustedCallers {
  readonly #callers = new Map<string, Caller>()
  readonly #clock: Clock
  readonly #trustMs: number
  readonly #callersMax: number
  readonly #charactersMax: number
  #characters = 0
  #untilMs = 0

  constructor(clock: Clock, trustMs: number, callersMax: number, charactersMax = Number.POSITIVE_INFINITY) {
    this.#clock = clock
    this.#trustMs = trustMs
    this.#callersMax = callersMax
    this.#charactersMax = charactersMax
  }

  find(authorization: string): Caller | undefined {
    return this.#clock.monotonicMs() < this.#untilMs ? this.#callers.get(authorization) : undefined
  }

  add(authorization: string, caller: Caller): void {
    const nowMs = this.#clock.monotonicMs()
    const isFull =
      this.#callers.size >= this.#callersMax || this.#characters + authorization.length > this.#charactersMax
    if (nowMs >= this.#untilMs || isFull) {
      this.#callers.clear()
      this.#characters = 0
      this.#untilMs = nowMs + this.#trustMs
    }
    if (!this.#callers.has(authorization)) this.#characters += authorization.length
    this.#callers.set(authorization, caller)
  }
}

/** Recently looked-up credentials that were valid. */
class FamiliarCredentials {
  /** Hashes, so that credentials are not kept in memory for long. */
  readonly #hashes = new Set<string>()
  readonly #countMax: number

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** Finds the caller of a credential; unfamiliar credentials go through the guard. */
  async find(secret: string, find: () => Promise<Caller>, guard: GuardLookUp): Promise<Caller> {
    const hash = hashSecret(secret).toString('base64')
    try {
      const caller = await (this.#hashes.has(hash) ? find() : guard(find))
      this.#note(hash)
      return caller
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalidToken') this.#hashes.delete(hash)
      throw error
    }
  }

  #note(hash: string): void {
    this.#hashes.delete(hash)
    const [oldest] = this.#hashes
    if (oldest !== undefined && this.#hashes.size >= this.#countMax) this.#hashes.delete(oldest)
    this.#hashes.add(hash)
  }
}

/** The WWW-Authenticate value of a 401 or 403 (RFC 6750, section 3). */
export function challenge(
  code: 'missingToken' | 'invalidToken' | 'insufficientScope',
  scopes: readonly Scope[],
): string {
  const bare = 'Bearer realm="plantstore"'
  if (code === 'missingToken') return bare
  if (code === 'invalidToken') return `${bare}, error="invalid_token"`
  return `${bare}, error="insufficient_scope", scope="${scopes.join(' ')}"`
}

function hasScopes(caller: Caller, scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => caller.scopes.includes(scope))
}

function readSecret(authorization: string | undefined): string {
  const secret = authorization === undefined ? undefined : credentialsPattern.exec(authorization)?.[1]
  if (secret !== undefined) return secret
  if (authorization !== undefined && bearerPattern.test(authorization)) throw invalidToken()
  throw new AppError('missingToken', 'Authorization: a bearer token is needed, as in "Authorization: Bearer plt_..."')
}
