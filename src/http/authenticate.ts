// Who is calling: from the Authorization header to a Caller who may do what the operation needs (RFC 6750).

import { timingSafeEqual } from 'node:crypto'
import type { Caller, Scope } from '../domain/caller.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { TokenStore } from '../domain/store.ts'
import { callerOf, hashSecret, isWellFormedSecret } from '../domain/token.ts'

export interface Authenticate {
  /**
   * Gives the caller, at once when the credential was looked up a moment ago.
   *
   * @throws AppError `missingToken`, `invalidToken` (one text for all reasons) or `insufficientScope`.
   */
  (authorization: string | undefined, scopes: readonly Scope[]): Caller | Promise<Caller>
  /** Gives the caller if it was looked up a moment ago and may; undefined says nothing about the others. */
  known(authorization: string | undefined, scopes: readonly Scope[]): Caller | undefined
}

export interface AuthenticateLimits {
  readonly tokenTrustMs: number
  readonly trustedTokensMax: number
}

/** The scheme's name is case-insensitive (RFC 9110, section 11.1); the token is a b64token (RFC 6750, section 2.1). */
const credentialsPattern = /^Bearer +([\w~+/.-]+=*) *$/i
const bearerPattern = /^Bearer +\S/i

export function createAuthenticate(
  store: Pick<TokenStore, 'findToken'>,
  clock: Clock,
  limits: AuthenticateLimits,
): Authenticate {
  /** Callers that were looked up a moment ago, by the usual value of the header; forgotten all together, as their trust ends. */
  const trusted = new Map<string, Caller>()
  let trustedUntilMs = 0

  return Object.assign(authenticate, { known })

  function authenticate(authorization: string | undefined, scopes: readonly Scope[]): Caller | Promise<Caller> {
    const caller = trustedCaller(authorization)
    if (caller !== undefined) return admit(caller, scopes)
    const secret = readSecret(authorization)
    if (!isWellFormedSecret(secret)) throw invalidToken()
    // A header can be spelt in many ways. Each would be remembered, with as many blanks as it has.
    const usual = `Bearer ${secret}`
    const callerOfAnother = trustedCaller(usual)
    if (callerOfAnother !== undefined) return admit(callerOfAnother, scopes)
    return lookUp(secret).then((found) => {
      trust(usual, found)
      return admit(found, scopes)
    })
  }

  function known(authorization: string | undefined, scopes: readonly Scope[]): Caller | undefined {
    const caller = trustedCaller(authorization)
    return caller !== undefined && isValid(caller) && hasScopes(caller, scopes) ? caller : undefined
  }

  function trustedCaller(authorization: string | undefined): Caller | undefined {
    const isTrusting = authorization !== undefined && clock.monotonicMs() < trustedUntilMs
    return isTrusting ? trusted.get(authorization) : undefined
  }

  async function lookUp(secret: string): Promise<Caller> {
    const hash = hashSecret(secret)
    const token = await store.findToken(hash)
    if (token === undefined || !timingSafeEqual(token.hash, hash)) throw invalidToken()
    const caller = callerOf(token)
    if (caller === undefined) throw invalidToken()
    return caller
  }

  function trust(authorization: string, caller: Caller): void {
    const nowMs = clock.monotonicMs()
    if (nowMs >= trustedUntilMs || trusted.size >= limits.trustedTokensMax) {
      trusted.clear()
      trustedUntilMs = nowMs + limits.tokenTrustMs
    }
    trusted.set(authorization, caller)
  }

  function admit(caller: Caller, scopes: readonly Scope[]): Caller {
    if (!isValid(caller)) throw invalidToken()
    if (!hasScopes(caller, scopes)) {
      throw new AppError(
        'insufficientScope',
        `the token needs the scope ${scopes.join(' ')}, it has ${caller.scopes.join(' ')}`,
      )
    }
    return caller
  }

  function isValid({ validUntilMs }: Caller): boolean {
    return clock.wallMs() < validUntilMs
  }
}

/** The value of WWW-Authenticate for a refusal (RFC 6750, section 3). */
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

function invalidToken(): AppError {
  return new AppError('invalidToken', 'Authorization: the token is unknown, malformed, expired or revoked')
}
