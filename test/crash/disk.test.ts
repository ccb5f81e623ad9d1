// The disk fails under a server: only durable changes are acknowledged, and the process exits.

import assert from 'node:assert/strict'
import { open, readFile, writeFile } from 'node:fs/promises'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client, plantJson } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { makeFolder, onFolder } from '../support/folder.ts'
import { importHere, type RunningServer, startServer } from '../support/program.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { addToken, exhaustiveOnPath, onPath } from '../support/store.ts'
import { noStrace } from '../support/strace.ts'
import { assertPrompt, until } from '../support/time.ts'
import { findLost, writeUntilGone } from './burst.ts'

/** How long a server whose store has failed may still be there. */
const exitMsMax = 1_000

/** In blocks of 512 or 1,024 bytes, as the shell has it. */
const fileSizeLimit = ['sh', '-c', 'ulimit -f 1024; exec "$0" "$@"']
const earlyAck = fileURLToPath(new URL('early-ack.ts', import.meta.url))

const failingSync = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO:when=40+']
const underStrace = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', ...failingSync]

describe('a failing disk', () => {
  const faults = [
    ['a write past the file size limit', fileSizeLimit, false],
    ['fsync fails from its 40th call on', underStrace, noStrace],
  ] as const
  for (const [title, under, skip] of inRing(faults.slice(0, 1), [...faults])) {
    onFolder(title, { skip }, async (folder) => {
      const path = folder.file('plants.db')
      const { secret: token } = await addToken(path, 'n')
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

  onPath('control: a server that acknowledges before the commit loses plants', async (path) => {
    const { secret: token } = await addToken(path, 'n')
    await using server = await startServer(path, { under: fileSizeLimit, before: ['--import', earlyAck] })
    const acknowledged = await writeUntilGone(server, token, 1)
    assert.notDeepEqual(await findLost(path, acknowledged), [])
  })

  type Check = (server: RunningServer, answered: Promise<HttpResponse | undefined>, traced: number) => Promise<void>

  /** Has a server on a disk with a fault stop while a create is under way. `server` is strace, and traces `traced`. */
  async function stopOn(inject: string, check: Check): Promise<void> {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    const { secret: token } = await addToken(path, 'n')
    // The first two are those of the start.
    const fault = ['-e', 'trace=fsync,fdatasync', '-e', `inject=fsync,fdatasync:${inject}:when=3+`]
    await using server = await startServer(path, { under: ['strace', '-f', '-qq', '-P', `${path}-wal`, ...fault] })
    const client = await Client.connect({ ...server, token })
    await using connection = await client.open()
    const answered = connection.request({ body: plantJson(1n, 'n') }).catch(() => undefined)
    // It came in before this one.
    await client.request({ method: 'GET', target: '/livez' })
    // strace passes no signal on.
    const { pid } = server.process
    const traced = Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'))
    process.kill(traced, 'SIGTERM')
    await check(server, answered, traced)
  }

  exhaustive.test('that fails while the server stops: the status is 1, too', { skip: noStrace }, () =>
    stopOn('error=EIO:delay_enter=800ms', async (server, answered) => {
      assert.equal((await answered)?.status, 503)
      assert.equal(await server.exited, 1)
      assert.match(server.output.stdout, /serverStopping[\s\S]*storeFailed/)
    }),
  )

  exhaustive.test('that hangs while the server stops: the next signal ends it', { skip: noStrace }, () =>
    stopOn('delay_enter=100s', async (server, _, traced) => {
      await server.sees('serverStopped')
      const stoppedAtMs = performance.now()
      // strace still holds the thread that it delays.
      const hasEnded = async (): Promise<boolean> =>
        / Z /.test(await readFile(`/proc/${traced}/stat`, 'utf8').catch(() => ' Z '))
      await until('it has ended', async () => {
        if (await hasEnded()) return true
        process.kill(traced, 'SIGTERM')
        return false
      })
      assertPrompt(stoppedAtMs, exitMsMax)
    }),
  )

  exhaustiveOnPath('a read that fails breaks the store, too', async (path, folder) => {
    // More than a connection keeps in its cache.
    const lines = Array.from({ length: 60_000 }, (_, id) => `{"id":${id},"name":"${'n'.repeat(200)}"}\n`)
    await writeFile(folder.file('in.ndjson'), lines.join(''))
    assert.equal((await importHere(folder.file('in.ndjson'), path)).status, 0)
    await using server = await startServer(path)
    const client = await Client.connect(server)
    await using connection = await client.open()
    const read = (id: number) => connection.request({ method: 'GET', target: `/plants/${id}` })
    assert.equal((await read(1)).status, 200)
    await damage(path)
    let id = 0
    const statuses: number[] = []
    while (statuses.at(-1) !== 503) {
      assert.ok(id < lines.length, 'the damage was not met')
      statuses.push((await read(id)).status)
      id += 100
    }
    const failedAt = performance.now()
    // It may be gone by then.
    const ready = await fetch(`${server.url}/readyz`).catch(() => undefined)
    assert.notEqual(ready?.status, 200)
    assert.equal(await server.exited, 1)
    assertPrompt(failedAt, exitMsMax)
    assert.match(server.output.stdout, /"event":"storeFailed".*(malformed|damaged)/)
  })

  exhaustiveOnPath('what was in flight is refused as unknown, and the server is not ready any more', async (path) => {
    const { secret: token } = await addToken(path, 'n')
    // It stays long enough to be asked, however slow the machine is.
    const stays = { failedStoreExitMs: 60_000 }
    await using server = await startServer(path, { under: fileSizeLimit, limits: stays })
    const client = await Client.connect({ ...server, token })
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

/** Overwrites all of a file but its first pages, which hold the schema. */
async function damage(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  const { size } = await file.stat()
  const from = 64 * 4096
  await file.write(Buffer.alloc(size - from, 0xaa), 0, size - from, from)
}
