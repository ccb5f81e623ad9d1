// The cost of each option of a server for createPlant (metrics, traces, a rate limit, JWTs, HTTPS, the log of changes),
// compared with a server without options.

import { once } from 'node:events'
import { copyFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { hasOpenssl, makeCertificate } from '../test/support/certificate.ts'
import { compareBoth, type Effort } from './in-turn.ts'
import { type BenchStore, makeStore, type ServerCommand, serving, startAll } from './process.ts'
import { createPlant } from './requests.ts'
import type { Comparison } from './results.ts'

const issuer = 'https://login.example/'
const audience = 'https://plants.example/'

export async function* benchOptions(effort: Effort): AsyncGenerator<Comparison> {
  await using first = await makeStore()
  await using collector = await startCollector()
  const flags: Record<string, readonly string[]> = {
    'no option': [],
    metrics: ['--metrics-listen', '127.0.0.1:0'],
    'rate limit': ['--rate-limit', '100000000/1s'],
    JWT: ['--jwt-keys', first.file('keys.json'), '--jwt-issuer', issuer, '--jwt-audience', audience],
    'log of changes': ['--log', 'changes'],
    traces: [],
    ...(hasOpenssl && { HTTPS: tlsFlags(first) }),
  }
  const jwt = await makeJwt(first)
  const commands = await Promise.all(
    Object.entries(flags).map(async ([name, own]): Promise<ServerCommand> => {
      // Each server has its own store with the same token.
      const path = first.file(`${name}.db`)
      await copyFile(first.path, path)
      const environment = name === 'traces' ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } : {}
      return { args: [...serving({ ...first, path }), ...own], environment }
    }),
  )
  await using servers = await startAll(commands)
  const names = Object.keys(flags)
  const contenders = servers.all.map((server, index) => {
    const name = names[index] as string
    return [name, name === 'JWT' ? { ...server, request: createPlant(jwt) } : server] as const
  })
  yield* compareBoth(
    {
      title: 'createPlant with each option',
      servers: Object.fromEntries(contenders),
      load: { request: createPlant(first.token), connections: 64 },
      ratePerSecond: 6_000,
    },
    effort,
  )
}

async function makeJwt(store: BenchStore): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig', kid: 'bench' }
  await writeFile(store.file('keys.json'), JSON.stringify({ keys: [jwk] }))
  return new SignJWT({ scope: 'plants:read plants:write' })
    .setProtectedHeader({ alg: 'ES256', kid: 'bench' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('bench')
    .setExpirationTime('1d')
    .sign(privateKey)
}

function tlsFlags(store: BenchStore): readonly string[] {
  const { cert, key } = makeCertificate(store, 'bench')
  return ['--tls-cert', cert, '--tls-key', key]
}

/** The collector of spans. Its CPU time does not count as the server's. */
async function startCollector(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
