// The first token of a store: printed on a terminal, written to a file, and never in a log.

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describe, test } from 'node:test'
import { AppError } from '../../src/domain/errors.ts'
import type { Store } from '../../src/domain/store.ts'
import { makeFirstToken } from '../../src/serve/new-token.ts'
import { describeOnEngines } from '../support/engines.ts'
import { type Folder, makeFolder, onFolder } from '../support/folder.ts'
import { makeSmallDisk } from '../support/postgres.ts'
import { runHere, runProgram, startServer } from '../support/program.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { listStatus, serveHere } from '../support/service.ts'
import { openTestStore } from '../support/store.ts'
import { killAt, noStrace } from '../support/strace.ts'

const secretPattern = /plt_\w{49}/

const secretIn = async (path: string): Promise<string> => {
  const text = await readFile(path, 'utf8')
  assert.match(text, /^plt_\w{49}\n$/)
  return text.trim()
}

const namesIn = async (folder: Folder, part: string): Promise<string[]> =>
  (await readdir(folder.path)).filter((name) => name.includes(part))

describeOnEngines('the first token, off a terminal', ({ onPlace }) => {
  onPlace('is not made without a file for it: the start says how to make one, and that works', async (place) => {
    const environment = { PLANTSTORE_FIRST_TOKEN_FILE: undefined }
    await using server = await startServer(place.store, { environment, args: ['--log', 'all'] })
    const { stdout, stderr } = server.output
    assert.doesNotMatch(stdout + stderr, secretPattern)
    assert.match(stderr, /^The store has no token yet, and without one every request for plants is refused\.$/m)
    const [, hint = ''] = /^To create a token: plantstore (.*)$/m.exec(stderr) ?? []
    assert.equal((await runHere(['token', 'list', '--json', '--store', place.store])).stdout, '[]\n')
    const made = await runHere([...hint.split(' ').slice(0, 4), '--store', place.store])
    assert.equal(await listStatus(server.url, made.stdout.trim()), 200, made.stderr)
  })

  onPlace('is in the file, for its owner alone, and nowhere else; later starts leave the file alone', async (place) => {
    await using folder = await makeFolder()
    const path = folder.file('token')
    const environment = { PLANTSTORE_FIRST_TOKEN_FILE: undefined }
    const options = { environment, args: ['--log', 'all', '--first-token-file', path] }
    await using server = await startServer(place.store, options)
    const secret = await secretIn(path)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal(await listStatus(server.url, secret), 200)
    assert.match(server.output.stderr, new RegExp(`^The first token, which may read and write, is in ${path}$`, 'm'))
    assert.ok(!(server.output.stdout + server.output.stderr).includes(secret))
    assert.equal(await server.stop(), 0)
    await writeFile(path, 'mine')
    await using again = await serveHere(place.store, {}, { firstTokenFile: path })
    assert.equal(await readFile(path, 'utf8'), 'mine')
    assert.equal(await listStatus(again.url, secret), 200)
    assert.deepEqual(await readdir(folder.path), ['token'])
  })

  onPlace('that the store certainly refuses leaves no file, and one that is printed is printed once', async (place) => {
    await using folder = await makeFolder()
    await using store = await openTestStore(place.store)
    // The token may be there if that is not known: then the file has its only copy.
    for (const [code, left] of [
      ['storeFull', []],
      ['storeUnavailable', ['token']],
    ] as const) {
      const refusing: Pick<Store, 'listTokens' | 'createFirstToken'> = {
        listTokens: () => store.listTokens(),
        createFirstToken: () => Promise.reject(new AppError(code, 'refused')),
      }
      await assert.rejects(makeFirstToken(refusing, { path: folder.file('token'), isTerminal: false }), /refused/)
      assert.deepEqual(await namesIn(folder, 'token'), left, code)
    }
    // Another server has made one meanwhile.
    const late = { listTokens: async () => [], createFirstToken: async () => false }
    const lost = await makeFirstToken(late, { path: folder.file('late'), isTerminal: false })
    assert.deepEqual([lost.kind, await namesIn(folder, 'late')], ['notNeeded', []])
    const printed = () => makeFirstToken(store, { path: '-', isTerminal: false })
    assert.deepEqual([(await printed()).kind, (await printed()).kind], ['shown', 'notNeeded'])
  })
})

describe('the file of the first token', () => {
  type Prepare = (folder: Folder) => Promise<unknown>
  /** Each prepares the file `t`, unless it has another path. */
  const refusals: readonly (readonly [title: string, prepare: Prepare, why?: RegExp, path?: string])[] = [
    ['somebody’s file', (folder) => writeFile(folder.file('t'), 'mine\n', { mode: 0o600 })],
    ['a link that leads nowhere', (folder) => symlink(folder.file('nothing'), folder.file('t'))],
    ['a folder', (folder) => mkdir(folder.file('t'))],
    ['in a folder that is not there', async () => {}, /the folder \S+no does not exist; create/, 'no/t'],
    ['below a file', (folder) => writeFile(folder.file('f'), ''), /f is not a folder; name another file/, 'f/t'],
    ['where nothing can be written', async () => {}, /\/proc\/self\/token /, '/proc/self/token'],
  ]
  const ofRing = inRing(refusals.slice(0, 1), refusals)
  for (const [title, prepare, why = /t exists already; remove it, or name another file/, at = 't'] of ofRing) {
    onFolder(`${title}: status 2, the file stays, and no token is made`, async (folder) => {
      await prepare(folder)
      const path = resolve(folder.path, at)
      const before = await readFile(path, 'utf8').catch(() => undefined)
      const store = folder.file('plants.db')
      const args = ['serve', '--port', '0', '--store', store, '--first-token-file', path]
      const { status, stderr } = await runProgram(args)
      assert.equal(status, 2)
      assert.match(stderr, why)
      assert.equal(stderr.split('\n').length, 2, stderr)
      assert.equal(await readFile(path, 'utf8').catch(() => undefined), before)
      assert.deepEqual(await namesIn(folder, '.partial'), [])
      await using server = await serveHere(store)
      assert.equal(await listStatus(server.url, server.token), 200)
    })
  }

  test('on a full disk: status 1, no file, no token', async (context) => {
    await using disk = await makeSmallDisk(1)
    if (disk === undefined) return context.skip('no file system can be mounted here')
    await writeFile(`${disk.path}/filler`, Buffer.alloc(4 * 1024 * 1024)).catch(() => {})
    await using folder = await makeFolder()
    const store = folder.file('plants.db')
    const args = ['serve', '--port', '0', '--store', store, '--first-token-file', `${disk.path}/token`]
    const { status, stderr } = await runProgram(args)
    assert.equal(status, 1)
    assert.match(stderr, /token is on a full disk; make room there/)
    assert.deepEqual((await readdir(disk.path)).toSorted(), ['filler'])
    assert.equal((await runHere(['token', 'list', '--json', '--store', store])).stdout, '[]\n')
  })

  exhaustive.test('is there if the token is, whenever its server is killed', { skip: noStrace }, async (context) => {
    const left = { both: 0, neither: 0, file: 0 }
    // Calls are counted by thread. That of the store syncs its log first, and last when it has the token.
    for (const [call, nth, only] of [
      ['link', 1, ''],
      ['fsync', 1, 'tokens'],
      ['fsync', 2, 'tokens'],
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((nth) => ['fsync', nth, ''] as const),
      ['unlink', 1, ''],
    ] as const) {
      await using folder = await makeFolder()
      await mkdir(folder.file('tokens'))
      const [store, path] = [folder.file('plants.db'), folder.file('tokens/token')]
      const args = ['serve', '--port', '0', '--store', store, '--first-token-file', path]
      await killAt(call, nth, args, { killAfterMs: 20_000, ...(only !== '' && { only: folder.file(only) }) })
      const hasFile = (await readdir(folder.file('tokens'))).includes('token')
      const { stdout } = await runHere(['token', 'list', '--json', '--store', store])
      const tokens = stdout === '' ? [] : JSON.parse(stdout)
      assert.ok(tokens.length === 0 || hasFile, `${call} ${nth}: a token that nobody can read`)
      left[tokens.length > 0 ? 'both' : hasFile ? 'file' : 'neither'] += 1
      const environment = { PLANTSTORE_FIRST_TOKEN_FILE: path }
      if (hasFile && tokens.length === 0) {
        await assert.rejects(startServer(store, { environment }), /exists already; remove it/)
        continue
      }
      await using server = await startServer(store, { environment })
      assert.equal(await listStatus(server.url, await secretIn(path)), 200, `${call} ${nth}`)
    }
    context.diagnostic(JSON.stringify(left))
    assert.ok(left.both > 0 && left.neither > 0 && left.file > 0, JSON.stringify(left))
  })
})

onFolder('on a terminal, the first token is not shown when it is wanted in a file', async (folder) => {
  const path = folder.file('token')
  await using server = await serveHere(folder.file('plants.db'), {}, { firstTokenFile: path })
  assert.doesNotMatch(server.welcome, secretPattern)
  assert.equal(await listStatus(server.url, await secretIn(path)), 200)
})
