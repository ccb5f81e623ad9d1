// Authenticates a JWT from an identity provider (RFC 7519, RFC 9068): verifies its signature and claims, and builds a
// Caller. jose caches the provider's keys. docs/decisions/0019-jwt.md has the reasons.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { FetchImplementation, JWTPayload, JWTVerifyGetKey } from 'jose'
import { allScopes, type Caller, type Scope } from '../domain/caller.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError, messageOf, SettingError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import { withoutControls } from '../domain/shown.ts'
import { invalidToken } from '../domain/token.ts'
import type { Limits } from '../limits.ts'

/** Requirements for JWTs. */
export interface JwtSettings {
  /** The URL of a JSON Web Key Set, or the path of a file with one. */
  readonly keys: string
  readonly issuer: string
  readonly audience: string
  /** The claims that contain scopes. */
  readonly scopeClaims: readonly string[]
}

export interface JwtDependencies {
  readonly clock: Clock
  readonly limits: Limits
  readonly observe: Observe
}

/** Asymmetric signatures only: the key that verifies a signature cannot create one. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
/** Tokens for other purposes have another `typ` (RFC 8725, section 3.11); many access tokens have none. */
const accessTokenType = /^(?:application\/)?(?:at\+)?jwt$/i
/** OpenID Connect Core 1.0, section 2. */
const subjectCharactersMax = 255
const keySetBytesMax = 256 * 1024

/** Throws SettingError if the keys are in an unusable file. An unreachable provider is not an error. */
export async function openJwts(settings: JwtSettings, { clock, limits, observe }: JwtDependencies) {
  const { issuer, audience, scopeClaims } = settings
  const { jwtVerify, errors } = await import('jose')
  const keys = await openKeys(settings.keys, { clock, limits, observe })
  return { verify, [Symbol.asyncDispose]: keys.close }

  /**
   * Returns the caller of a token.
   *
   * @throws AppError `invalidToken`, whose cause is the reason as a text; `issuerAway` if the token's key is unknown
   * and the keys cannot be fetched.
   */
  async function verify(token: string): Promise<Caller> {
    const { payload, protectedHeader } = await jwtVerify(token, findKey, {
      algorithms,
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: limits.jwtClockToleranceSeconds,
      currentDate: new Date(clock.wallMs()),
    }).catch((error) => {
      throw error instanceof AppError ? error : invalidToken(messageOf(error))
    })
    // jose does not compare it with the clock.
    const { iat = 0 } = payload
    if (iat > clock.wallMs() / 1_000 + limits.jwtClockToleranceSeconds) throw invalidToken('its iat is in the future')
    const { typ } = protectedHeader
    if (typ !== undefined && !accessTokenType.test(typ)) throw invalidToken('its typ is not that of an access token')
    return toCaller(payload)
  }

  function findKey(...[header, token]: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey> {
    return keys.find(header, token).catch((error) => {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error
      const message = 'the key of the token is unknown, and its issuer cannot be reached now; try again'
      throw new AppError('issuerAway', message, { cause: `the keys cannot be renewed: ${reasonOf(error)}` })
    })
  }

  function toCaller(claims: JWTPayload): Caller {
    const { sub, exp } = claims
    if (typeof sub !== 'string' || !/^[^\p{Cc}\p{Cs}]+$/u.test(sub) || sub.length > subjectCharactersMax) {
      throw invalidToken(`its sub is not a string of 1 to ${subjectCharactersMax} characters`)
    }
    const hash = createHash('sha256').update(JSON.stringify([issuer, sub]))
    return {
      // Differs from the ids of store tokens and from subjects of other issuers; has a fixed length.
      id: `jwt_${hash.digest('base64url')}`,
      // Logs may be read on terminals.
      name: withoutControls(sub),
      scopes: scopesOf(claims, scopeClaims),
      validUntilMs: ((exp as number) + limits.jwtClockToleranceSeconds) * 1_000,
    }
  }
}

/** Loads the keys at a URL or in a file. jose caches them. */
async function openKeys(keys: string, { clock, limits, observe }: JwtDependencies) {
  const isRemote = /^https?:\/\//i.test(keys)
  const url = isRemote ? new URL(keys) : pathToFileURL(keys)
  // For messages; the query may contain a secret.
  const place = isRemote ? keys.replace(/[?#].*$/, '') : keys
  if (url.protocol === 'http:' && !/^(?:localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    const message = `--jwt-keys: anyone between this machine and ${place} can replace the keys; use https://`
    observe({ kind: 'serverWarning', message })
  }
  const { createRemoteJWKSet, customFetch } = await import('jose')
  const { Agent, fetch } = await import('undici')
  const dispatcher = new Agent({ maxResponseSize: keySetBytesMax })
  const fetchKeys = ((url, options) => fetch(url, { ...options, dispatcher })) as FetchImplementation
  const find = createRemoteJWKSet(url, {
    timeoutDuration: limits.jwksMsMax,
    cooldownDuration: limits.jwksCooldownMs,
    cacheMaxAge: limits.jwksKeptMsMax,
    [customFetch]: isRemote ? fetchKeys : async () => new Response(await readFile(keys)),
  })
  if (!isRemote) {
    await find.reload().catch((error) => {
      throw new SettingError(`--jwt-keys: the keys at ${place} cannot be used: ${reasonOf(error)}`)
    })
  }
  let awaySinceMs: number | undefined
  let timer: NodeJS.Timeout | undefined
  void refresh()
  return {
    find,
    close: (): Promise<void> => {
      clearTimeout(timer)
      return dispatcher.destroy()
    },
  }

  /** Fetches the keys periodically, so that withdrawn keys are dropped even if no token names a new one. */
  async function refresh(): Promise<void> {
    try {
      await find.reload()
      if (awaySinceMs !== undefined) observe({ kind: 'jwtKeysBack', place, awayMs: clock.monotonicMs() - awaySinceMs })
      awaySinceMs = undefined
    } catch (error) {
      if (dispatcher.destroyed) return
      if (awaySinceMs === undefined) observe({ kind: 'jwtKeysAway', place, cause: reasonOf(error) })
      awaySinceMs ??= clock.monotonicMs()
    }
    timer = setTimeout(refresh, awaySinceMs === undefined ? limits.jwksRefreshMs : limits.jwksCooldownMs).unref()
  }
}

/** Depending on the provider, a claim is a space-separated string (RFC 8693, section 4.2) or a list. */
function scopesOf(claims: JWTPayload, names: readonly string[]): readonly Scope[] {
  const granted = names.flatMap((name) => {
    const value = claims[name]
    return typeof value === 'string' ? value.split(' ') : value
  })
  return allScopes.filter((name) => granted.includes(name))
}

/** The message of `fetch` errors omits the cause. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error)
}
