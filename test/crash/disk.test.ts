// The disk fails under a server: nothing is acknowledged that is not kept, and the process ends by itself.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { assertPrompt } from '../support/time.ts'
import { findLost, writeUntilGone } from './burst.ts'

/** How long a server whose store has failed may still be there. */
const exitMsMax = 1_000

const faults: readonly {
  readonly title: string
  readonly under: readonly string[]
  readonly missing?: string | false
}[] = [
  {
    title: 'a write past the file size limit',
    // Blocks of 512 or 1,024 bytes, as the shell has it.
    under: ['sh', '-c', 'ulimit -f 1024; exec "$0" "$@"'],
  },
  {
    title: 'fsync fails from its 40th call on',
    under: [
      'strace',
      '-f',
      '-qq',
      '-o',
      '/dev/null',
      '-e',
      'trace=fsync,fdatasync',
      '-e',
      'inject=fsync,fdatasync:error=EIO:when=40+',
    ],
    missing: spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status !== 0 && 'strace is not to be had here',
  },
]

describe('a failing disk', () => {
  for (const { title, under, missing } of faults) {
    test(title, { skip: missing ?? false }, async () => {
      await using folder = await makeFolder()
      const path = folder.file('plants.db')
      const token = await makeStore(path)
      await using server = await startServer(path, { under })
      const acknowledged = await writeUntilGone(server, token, 1)
      const failedAt = performance.now()
      assert.equal(await server.exited, 1)
      assertPrompt(failedAt, exitMsMax)
      assert.match(server.output.stdout, /"event":"storeFailed".*disk I\/O error/)
      assert.ok(acknowledged.size > 0)
      assert.deepEqual(await findLost(path, acknowledged), [])
    })
  }

  test('what was in flight is refused as unknown, and the server is not ready any more', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    const token = await makeStore(path)
    // It stays long enough to be asked, however slow the machine is.
    const stays = { failedStoreExitMs: 60_000 }
    await using server = await startServer(path, { under: faults[0]?.under ?? [], limits: stays })
    const { conformance } = await Client.connect(server)
    const client = new Client(server.port, token, conformance)
    await using watcher = await client.open()
    await using writer = await client.open()
    for (let id = 0n; ; id += 1n) {
      const response = await writer.request({ body: `{"id":${id},"name":"${'n'.repeat(1_000)}"}` })
      if (response.status === 200) continue
      assert.equal(JSON.parse(response.body).error, 50302)
      break
    }
    const ready = await watcher.request({ method: 'GET', target: '/readyz' })
    assert.equal(ready.status, 503)
    assert.equal((await watcher.request({ method: 'GET', target: '/livez' })).status, 200)
  })
})

/** Makes a store with a token outside the fault, and gives the token. */
async function makeStore(path: string): Promise<string> {
  await using server = await startServer(path)
  assert.equal(await server.stop(), 0)
  return server.token
}
