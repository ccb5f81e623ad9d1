// An identity provider: signs JWTs, and serves the keys that verify them, correctly or with faults.

import { createServer, type Server, type ServerResponse } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { SettingTexts } from '../../src/config.ts'
import { listen } from './answering.ts'

export interface SigningKey {
  readonly alg: string
  readonly kid: string | undefined
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export interface TokenParts {
  readonly key?: SigningKey
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
}

export const audience = 'https://plants.example/'

export async function makeKey(alg: string, kid: string | undefined): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid !== undefined && { kid }) }
  return { alg, kid, privateKey, jwk }
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

export class IdentityProvider implements AsyncDisposable {
  readonly issuer = 'https://login.example/realms/plants'
  readonly url: string
  readonly key: SigningKey
  readonly #server: Server
  /** What it serves, unless `answer` was replaced. */
  keys: JWK[]
  /** How often it was asked. */
  requests = 0
  answer = (response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: this.keys }))
  }

  static async start(): Promise<IdentityProvider> {
    const server = createServer()
    return new IdentityProvider(server, await listen(server), await makeKey('ES256', 'first'))
  }

  private constructor(server: Server, port: number, key: SigningKey) {
    this.#server = server
    this.key = key
    this.keys = [key.jwk]
    this.url = `http://127.0.0.1:${port}/keys`
    const serve = this.answer
    server.on('request', (request, response) => {
      this.requests += 1
      if (request.url === '/moved') serve(response)
      else this.answer(response)
    })
  }

  /** What makes a server accept its tokens. */
  get settings(): Pick<SettingTexts, 'jwtKeys' | 'jwtIssuer' | 'jwtAudience'> {
    return { jwtKeys: this.url, jwtIssuer: this.issuer, jwtAudience: audience }
  }

  /** The same as flags. */
  get flags(): string[] {
    const { jwtKeys, jwtIssuer, jwtAudience } = this.settings
    return ['--jwt-keys', jwtKeys, '--jwt-issuer', jwtIssuer, '--jwt-audience', jwtAudience]
  }

  /** The claims of a token that may do everything for five minutes. */
  claims(): Record<string, unknown> {
    const now = nowSeconds()
    return {
      ...{ iss: this.issuer, aud: audience, sub: 'alice', iat: now, exp: now + 300 },
      scope: 'openid plants:read plants:write',
    }
  }

  /** Signs a token; a header field or claim that is undefined is left out. */
  sign({ key = this.key, header = {}, claims = {} }: TokenParts = {}): Promise<string> {
    return new SignJWT(JSON.parse(JSON.stringify({ ...this.claims(), ...claims })))
      .setProtectedHeader(JSON.parse(JSON.stringify({ typ: 'at+jwt', alg: key.alg, kid: key.kid, ...header })))
      .sign(key.privateKey)
  }

  /** From now on nobody listens there. */
  async leave(): Promise<void> {
    this.#server.closeAllConnections()
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve))
  }

  async comeBack(): Promise<void> {
    await listen(this.#server, Number(new URL(this.url).port))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave()
  }
}
