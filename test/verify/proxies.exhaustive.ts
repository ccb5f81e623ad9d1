// `plantstore verify` of the service behind proxies, which answer some requests themselves.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VerifyReport } from '../../verify/results.ts'
import { belowPath, deployedProxy, type ProxyName, proxyNames } from '../deploy/files.ts'
import { missingFor } from '../deploy/stops.ts'
import { nginxWith, type ProxyKind, proxyKinds, startProxy } from '../http/framing/proxies.ts'
import type { Folder } from '../support/folder.ts'
import { cleanEnvironment, runProgram } from '../support/program.ts'
import { startOwnServer } from '../support/service.ts'

interface Case {
  readonly title: string
  readonly program: ProxyName
  readonly make: (folder: Folder, upstream: number) => Promise<{ readonly kind: ProxyKind; readonly ca?: string }>
  readonly path?: string
  /** Rows that fail, because the proxy breaks what the document promises. */
  readonly failed?: readonly string[]
}

/** The rows whose requests each program may answer itself. */
const answered: Readonly<Record<ProxyName, readonly string[]>> = {
  nginx: [
    'header fields of 20,000 bytes',
    'If-None-Match may be on two lines',
    'If-Match may be on two lines',
    ...['getPlant', 'replacePlant', 'deletePlant'].map((id) => `${id} refuses an id with NUL behind it`),
    // Where its buffers for header fields are those of its default.
    'a list is filtered by a name of 1,024 characters outside the BMP',
  ],
  HAProxy: ['header fields of 20,000 bytes', 'a transfer coding that is not known'],
}

const oldAndCompressed = `gzip on; gzip_min_length 1; gzip_types *; gzip_proxied any; gzip_http_version 1.0;
    location / { proxy_pass http://service; proxy_http_version 1.0; proxy_set_header Host $http_host; }`

function deployed(name: ProxyName, change: Readonly<Record<string, string>> = {}): Case['make'] {
  return (folder, upstream) =>
    deployedProxy(name, { folder, servers: [`127.0.0.1:${upstream}`, `127.0.0.1:${upstream}`], change })
}

const cases: readonly Case[] = [
  ...proxyNames.flatMap((program) => [
    { title: `the ${program} of deploy/`, program, make: deployed(program) },
    {
      title: `the ${program} of deploy/, below a path`,
      program,
      make: deployed(program, belowPath[program]),
      path: '/store',
    },
  ]),
  ...proxyKinds.map((kind) => ({
    title: `${kind.name} with next to no settings`,
    program: kind.name as ProxyName,
    make: async () => ({ kind }),
  })),
  {
    title: 'nginx that speaks HTTP/1.0 to the server, and compresses',
    program: 'nginx',
    make: async () => ({ kind: nginxWith(oldAndCompressed) }),
    // It makes their ETags weak: a client that accepts them compressed cannot use If-Match.
    failed: [
      'a client that accepts compressed answers gets strong ETags',
      'getPlant: answers are as the document describes them',
    ],
  },
]

for (const { title, program, make, path = '', failed: broken = [] } of cases) {
  describe(`plantstore verify behind ${title}`, { skip: missingFor(program) ?? false }, () => {
    test('fails no row but those it breaks, and says which the proxy answered', async () => {
      await using own = await startOwnServer({ args: ['--trust-proxy', 'loopback'] })
      const { server, folder } = own
      const { kind, ca } = await make(folder, server.port)
      await using proxy = await startProxy(kind, server.port)
      const url = `${ca === undefined ? 'http' : 'https'}://127.0.0.1:${proxy.port}${path}`
      const { status, stdout } = await runProgram(['verify', url, '--token', server.token, '--json'], {
        env: { ...cleanEnvironment(), ...(ca !== undefined && { NODE_EXTRA_CA_CERTS: folder.file('proxy.crt') }) },
      })
      const { rows, left } = JSON.parse(stdout) as VerifyReport
      const failed = rows.filter(({ outcome }) => outcome === 'failed').map(({ title }) => title)
      assert.deepEqual(failed, broken)
      assert.deepEqual([status, left], [broken.length === 0 ? 0 : 1, []])
      const skipped = rows.filter((row) => row.skipped?.startsWith('something in front')).map(({ title }) => title)
      assert.ok(skipped.length > 0)
      const isKnown = (title: string): boolean =>
        answered[program].includes(title) || (program === 'nginx' && /^TRACE /.test(title))
      const unknown = skipped.filter((title) => !isKnown(title))
      assert.deepEqual(unknown, [])
    })
  })
}
