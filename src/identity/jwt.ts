// Authenticates a JWT of an identity provider (RFC 7519, RFC 9068): verifies its signature and claims, and builds a
// Caller. docs/decisions/0019-jwt.md gives the reasons.

import { createHash } from 'node:crypto'
import type { JWTPayload, JWTVerifyOptions } from 'jose'
import { allScopes, type Caller, type Scope } from '../domain/caller.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError, messageOf, SettingError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import { withoutControls } from '../domain/shown.ts'
import { invalidToken } from '../domain/token.ts'
import { Keys, type KeysLimits } from './keys.ts'
import { isUrl } from './load-keys.ts'

/** Requirements for JWTs. */
export interface JwtSettings {
  /** The URL of a JSON Web Key Set, or the path of a file with one. */
  readonly keys: string
  readonly issuer: string
  readonly audience: string
  /** The claims that contain scopes. */
  readonly scopeClaims: readonly string[]
}

export interface JwtLimits extends KeysLimits {
  readonly jwtClockToleranceSeconds: number
  readonly jwtKeysTriedMax: number
  readonly jwtSubjectCharactersMax: number
}

export interface JwtDependencies {
  readonly clock: Clock
  readonly limits: JwtLimits
  readonly observe: Observe
}

export interface Jwts extends Disposable {
  /**
   * Returns the caller of a token.
   *
   * @throws AppError `invalidToken`, whose cause is the reason as a text; `issuerAway` if the token's key is unknown
   * and the provider is unreachable or must not be asked again yet.
   */
  verify(token: string): Promise<Caller>
}

/** Asymmetric signatures only: the key that verifies a signature cannot create one. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** Tokens for other purposes have another type (RFC 8725, section 3.11); many access tokens have none. */
const accessTokenType = /^(?:application\/)?(?:at\+)?jwt$/i

/** The result of checking a token: its claims, or the reason for refusal and whether other keys could change it. */
type Verdict =
  | { readonly claims: JWTPayload }
  | { readonly claims?: undefined; readonly refusal: string; readonly isKeyUnknown: boolean }

type Jose = typeof import('jose')

/**
 * Starts the verifier.
 *
 * @throws SettingError if the keys are in an unusable file. An unreachable provider is not an error.
 */
export async function openJwts(settings: JwtSettings, dependencies: JwtDependencies): Promise<Jwts> {
  const { observe } = dependencies
  const place = placeShown(settings.keys)
  warnOfPlainText(settings.keys, place, observe)
  const jose = await import('jose')
  const keys = new Keys(jose, { ...dependencies, keys: settings.keys, place })
  void keys.keepFresh()
  if (!isUrl(settings.keys)) {
    await keys.renew()
    if (keys.failure !== undefined) {
      keys[Symbol.dispose]()
      throw new SettingError(`--jwt-keys: the keys at ${place} ${keys.failure}`)
    }
  }
  const verifier = new Verifier(jose, settings, keys, dependencies)
  return { verify: (token) => verifier.verify(token), [Symbol.dispose]: () => keys[Symbol.dispose]() }
}

class Verifier {
  readonly #jose: Jose
  readonly #settings: JwtSettings
  readonly #keys: Keys
  readonly #clock: Clock
  readonly #limits: JwtLimits

  constructor(jose: Jose, settings: JwtSettings, keys: Keys, { clock, limits }: JwtDependencies) {
    this.#jose = jose
    this.#settings = settings
    this.#keys = keys
    this.#clock = clock
    this.#limits = limits
  }

  async verify(token: string): Promise<Caller> {
    const hopeless = this.#whyHopeless(token)
    if (hopeless !== undefined) throw invalidToken(hopeless)
    const { askedWallMs } = this.#keys
    let verdict = await this.#judge(token)
    if (verdict.claims === undefined && verdict.isKeyUnknown) {
      const issuedMs = this.#issuedMs(token)
      const areRenewed = await this.#keys.renew()
      // Another request may have renewed the keys meanwhile.
      if (areRenewed || this.#keys.askedWallMs !== askedWallMs) verdict = await this.#judge(token)
      if (verdict.claims === undefined && verdict.isKeyUnknown) this.#assertCurrent(issuedMs)
    }
    if (verdict.claims === undefined) throw invalidToken(verdict.refusal)
    return this.#toCaller(verdict.claims)
  }

  /** Rejects a token by its unverified content, so that garbage does not make the server fetch keys. */
  #whyHopeless(token: string): string | undefined {
    try {
      const { alg, typ, crit, kid } = this.#jose.decodeProtectedHeader(token)
      if (alg === undefined || !algorithms.includes(alg)) return 'its algorithm is not one of those allowed'
      if (typ !== undefined && !accessTokenType.test(typ)) return 'its typ is not that of an access token'
      if (crit !== undefined) return 'it has a crit header'
      if (kid !== undefined && typeof kid !== 'string') return 'its kid is not a string'
      const { iss, exp } = this.#jose.decodeJwt(token)
      if (iss !== this.#settings.issuer) return 'its issuer is not the configured one'
      if (typeof exp !== 'number' || this.#clock.wallMs() >= this.#withTolerance(exp))
        return 'it has expired, or has no exp'
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  }

  /** The latest possible issue time of a token. */
  #issuedMs(token: string): number {
    const { iat } = this.#jose.decodeJwt(token)
    const nowMs = this.#clock.wallMs()
    return typeof iat === 'number' ? Math.min(this.#withTolerance(iat), nowMs) : nowMs
  }

  /** Throws unless the keys are at least as new as the token: the provider may have a newer key. */
  #assertCurrent(issuedMs: number): void {
    const { failure, askedWallMs, cooldownLeftMs } = this.#keys
    if (failure === undefined && askedWallMs >= issuedMs) return
    throw new AppError(
      'issuerAway',
      'the key of the token is unknown, and its issuer cannot be reached now; try again',
      {
        cause: `the keys ${failure ?? 'were asked for a moment ago'}`,
        fields: { 'retry-after': String(Math.max(Math.ceil(cooldownLeftMs / 1_000), 1)) },
      },
    )
  }

  async #judge(token: string): Promise<Verdict> {
    const { jwtVerify, errors } = this.#jose
    if (!this.#keys.find.fresh) return { refusal: 'its key is not known', isKeyUnknown: true }
    try {
      return { claims: (await jwtVerify(token, this.#keys.find, this.#options())).payload }
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return this.#tryEach(token, error)
      const isKeyUnknown = error instanceof errors.JWKSNoMatchingKey || this.#mayNeedAnotherKey(token, error)
      return { refusal: messageOf(error), isKeyUnknown }
    }
  }

  /** Tries several keys: the token names no key, or several keys share its name. */
  async #tryEach(
    token: string,
    candidates: InstanceType<Jose['errors']['JWKSMultipleMatchingKeys']>,
  ): Promise<Verdict> {
    let tried = 0
    for await (const key of candidates) {
      if (tried === this.#limits.jwtKeysTriedMax) break
      tried += 1
      try {
        return { claims: (await this.#jose.jwtVerify(token, key, this.#options())).payload }
      } catch (error) {
        if (error instanceof this.#jose.errors.JWSSignatureVerificationFailed) continue
        return { refusal: messageOf(error), isKeyUnknown: false }
      }
    }
    const isKeyUnknown = this.#jose.decodeProtectedHeader(token).kid === undefined
    return { refusal: `none of ${tried} keys verifies its signature`, isKeyUnknown }
  }

  /** A provider without key names may have replaced its key. */
  #mayNeedAnotherKey(token: string, error: unknown): boolean {
    const { errors, decodeProtectedHeader } = this.#jose
    return error instanceof errors.JWSSignatureVerificationFailed && decodeProtectedHeader(token).kid === undefined
  }

  #options(): JWTVerifyOptions {
    const { issuer, audience } = this.#settings
    return {
      algorithms,
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: this.#limits.jwtClockToleranceSeconds,
      currentDate: new Date(this.#clock.wallMs()),
    }
  }

  #toCaller(claims: JWTPayload): Caller {
    const { sub, iat, exp } = claims
    const { jwtSubjectCharactersMax, jwtClockToleranceSeconds } = this.#limits
    if (typeof sub !== 'string' || !/^[^\p{Cc}\p{Cs}]+$/u.test(sub) || sub.length > jwtSubjectCharactersMax) {
      throw invalidToken(`its sub is not a string of 1 to ${jwtSubjectCharactersMax} characters`)
    }
    if (iat !== undefined && iat > this.#clock.wallMs() / 1000 + jwtClockToleranceSeconds) {
      throw invalidToken('it was issued in the future')
    }
    return {
      id: callerIdOf(this.#settings.issuer, sub),
      // Logs may be read on terminals.
      name: withoutControls(sub),
      scopes: scopesOf(claims, this.#settings.scopeClaims),
      validUntilMs: this.#withTolerance(exp as number),
    }
  }

  /** Adds the clock tolerance to a time set by the issuer. */
  #withTolerance(seconds: number): number {
    return (seconds + this.#limits.jwtClockToleranceSeconds) * 1000
  }
}

/** Differs from the ids of store tokens and from subjects of other issuers; has a fixed length. */
function callerIdOf(issuer: string, subject: string): string {
  return `jwt_${createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('base64url')}`
}

/** A claim may be a space-separated string (RFC 8693, section 4.2) or a list, depending on the provider. */
function scopesOf(claims: JWTPayload, names: readonly string[]): readonly Scope[] {
  const granted = names.flatMap((name) => {
    const value = claims[name]
    return typeof value === 'string' ? value.split(' ') : value
  })
  return allScopes.filter((name) => granted.includes(name))
}

function warnOfPlainText(keys: string, place: string, observe: Observe): void {
  const { protocol, hostname } = isUrl(keys) ? new URL(keys) : { protocol: '', hostname: '' }
  if (protocol !== 'http:' || /^(?:localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return
  const message = `--jwt-keys: anyone between this machine and ${place} can replace the keys; use https://`
  observe({ kind: 'serverWarning', message })
}

/** Omits the query, which may contain a secret. */
function placeShown(keys: string): string {
  return isUrl(keys) ? keys.replace(/[?#].*$/, '') : keys
}
