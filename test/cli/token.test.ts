// `plantstore token`: create, list, rotate, revoke, with and without a server.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe } from 'node:test'
import { describeOnEngines } from '../support/engines.ts'
import { exhaustiveOnFolder, onFolder } from '../support/folder.ts'
import { cleanEnvironment, type Finished, launcher, runHere, runProgram } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { listStatus, serveHere } from '../support/service.ts'
import { onPath } from '../support/store.ts'
import { assertPrompt, until } from '../support/time.ts'

describe('plantstore token', () => {
  onFolder('create prints the token alone on stdout, list and revoke never print it', async (folder) => {
    const store = ['--store', folder.file('plants.db')]
    const created = await runHere(['token', 'create', '--name', 'laptop', ...store])
    assert.match(created.stdout, /^plt_\w{49}\n$/)
    assert.match(created.stderr, /^.*tok_\w{12} \(laptop\) has the scopes plants:read plants:write and does not expire/)
    assert.match(created.stderr, /^.*\nA new store was created at .*\n$/)
    assert.ok(!created.stderr.includes(created.stdout.trim()))
    const flags = ['--name', 'ci', '--scope', 'plants:read', '--expires', '90d']
    const scoped = await runHere(['token', 'create', ...flags, ...store])
    assert.doesNotMatch(scoped.stderr, /new store/)

    const table = await runHere(['token', 'list', ...store])
    assert.match(
      table.stdout,
      /^ID +STATE +SCOPES +CREATED +EXPIRES +LAST USED +NAME\ntok_\w+ +valid +plants:read,plants:write +\S+ +never +never +laptop\ntok_\w+ +valid +plants:read +/,
    )
    const [first, second] = JSON.parse((await runHere(['token', 'list', '--json', ...store])).stdout)
    assert.equal(Object.keys(first).join(), 'id,name,scopes,state,created,expires,revoked,replacedBy,lastUsed')
    assert.equal(first.expires, null)
    assert.equal(Date.parse(second.expires) - Date.parse(second.created), 90 * 86_400_000)
    const never = ['--name', 'n', '--expires', 'never', '--store', folder.file('n.db')]
    assert.match((await runHere(['token', 'create', ...never])).stderr, /and does not expire/)

    assert.equal((await runHere(['token', 'revoke', first.id, ...store])).status, 0)
    const unknown = await runHere(['token', 'revoke', 'tok_nobody', ...store])
    assert.equal(unknown.stderr, 'plantstore: there is no token tok_nobody; `plantstore token list` shows them\n')
    const after = await runHere(['token', 'list', '--json', ...store])
    const states = JSON.parse(after.stdout).map(({ state }: { state: string }) => state)
    assert.deepEqual(states, ['revoked', 'valid'])
    for (const { stdout, stderr } of [table, after]) assert.doesNotMatch(stdout + stderr, /plt_/)
  })

  onPath('no secret is in the store, only its hash', async (path) => {
    const created = await runHere(['token', 'create', '--name', 'a', '--store', path])
    const [{ id }] = JSON.parse((await runHere(['token', 'list', '--json', '--store', path])).stdout)
    const rotated = await runHere(['token', 'rotate', id, '--store', path])
    const stored = await readFile(path)
    for (const { stdout } of [created, rotated]) {
      assert.ok(!stored.includes(stdout.trim()), 'the secret is stored')
      assert.ok(stored.includes(createHash('sha256').update(stdout.trim()).digest()), 'the hash is not stored')
    }
  })

  for (const [redirect, why] of [
    ['>/dev/full', /.*ENOSPC/],
    ['>&-', /it is closed, or is \/dev\/null$/m],
  ] as const) {
    onPath(`a token that could not be shown (${redirect}) is revoked`, async (path) => {
      const script = ['-c', `exec "$0" "$@" ${redirect}`, process.execPath, launcher]
      const args = [...script, 'token', 'create', '--name', 'lost', '--store', path]
      const { status, stderr } = spawnSync('sh', args, { encoding: 'utf8' })
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`plantstore: the output could not be written: ${why.source}`, 'm'))
      const list = JSON.parse((await runHere(['token', 'list', '--json', '--store', path])).stdout)
      assert.equal(list[0].state, 'revoked')
    })
  }
})

type Listed = Readonly<Record<'id' | 'name' | 'state' | 'created', string>> &
  Readonly<Record<'expires' | 'replacedBy', string | null>> & { readonly scopes: readonly string[] }

const hourMs = 3_600_000

const token = (store: string, ...args: string[]): Promise<Finished> => runHere(['token', ...args, '--store', store])
const list = async (store: string): Promise<readonly Listed[]> =>
  JSON.parse((await token(store, 'list', '--json')).stdout)

async function makeToken(store: string, ...flags: string[]): Promise<Readonly<Record<'id' | 'secret', string>>> {
  const { stdout, stderr } = await token(store, 'create', '--name', 'ci', ...flags)
  const [id = assert.fail(stderr)] = /tok_\w{12}/.exec(stderr) ?? []
  return { id, secret: stdout.trim() }
}

describeOnEngines('plantstore token rotate', ({ makePlace, onPlace }) => {
  onPlace('prints a token alone that may do what the old one may, which ends after the overlap', async (place) => {
    const old = await makeToken(place.store, '--scope', 'plants:read', '--expires', '90d')
    const { status, stdout, stderr } = await token(place.store, 'rotate', old.id, '--overlap', '2h')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^plt_\w{49}\n$/)
    const told = `^Token tok_\\w{12} \\(ci\\) replaces ${old.id}, which expires at \\S+Z\\. The new one .*\\n$`
    assert.match(stderr, new RegExp(told))
    assert.ok(!stderr.includes(stdout.trim()))
    const [was, now] = (await list(place.store)).toSorted((one) => (one.id === old.id ? -1 : 1))
    assert.ok(was && now)
    assert.deepEqual([now.name, now.scopes, now.state], ['ci', ['plants:read'], 'valid'])
    assert.equal(Date.parse(now.expires ?? '') - Date.parse(now.created), 90 * 24 * hourMs)
    assert.equal(Date.parse(was.expires ?? '') - Date.parse(now.created), 2 * hourMs)
    assert.deepEqual([was.state, was.replacedBy, now.replacedBy], ['valid', now.id, null])
    await using server = await serveHere(place.store)
    assert.deepEqual(
      [await listStatus(server.url, old.secret), await listStatus(server.url, stdout.trim())],
      [200, 200],
    )
  })

  onPlace('the overlap is 24 hours by default; without one a running server refuses the old token', async (place) => {
    const [kept, gone] = [await makeToken(place.store), await makeToken(place.store)]
    await token(place.store, 'rotate', kept.id)
    await using server = await serveHere(place.store)
    assert.equal(await listStatus(server.url, gone.secret), 200)
    const { stdout, stderr } = await token(place.store, 'rotate', gone.id, '--overlap', '0s')
    assert.match(stderr, /, which is revoked\. The new one does not expire;/)
    const revokedMs = performance.now()
    // Asked all the time, so that the token is one that the server has just used.
    await until('the old token is refused', async () => (await listStatus(server.url, gone.secret)) === 401)
    assertPrompt(revokedMs, 1_000)
    assert.equal(await listStatus(server.url, stdout.trim()), 200)
    assert.equal(await listStatus(server.url, kept.secret), 200)
    const tokens = await list(place.store)
    const { created } = tokens.find(({ id }) => id === tokens.find((each) => each.id === kept.id)?.replacedBy) as Listed
    const { expires } = tokens.find(({ id }) => id === kept.id) as Listed
    assert.equal(Date.parse(expires ?? '') - Date.parse(created), 24 * hourMs)
    assert.equal(tokens.find(({ id }) => id === gone.id)?.state, 'revoked')
  })

  onPlace('unknown, revoked, expired and rotated tokens are refused; nothing is changed', async (place) => {
    const [revoked, rotated] = [await makeToken(place.store), await makeToken(place.store)]
    const expired = await makeToken(place.store, '--expires', '1s')
    await token(place.store, 'revoke', revoked.id)
    await token(place.store, 'rotate', rotated.id)
    const { expires } = (await list(place.store)).find(({ id }) => id === expired.id) ?? {}
    await until('it has expired', () => Date.now() > Date.parse(expires ?? ''))
    const before = await list(place.store)
    const successor = before.find(({ id }) => id === rotated.id)?.replacedBy
    for (const [id, message] of [
      ['tok_nobody', 'there is no token tok_nobody; `plantstore token list` shows them'],
      [revoked.id, `token ${revoked.id} is revoked; create another with \`plantstore token create\``],
      [expired.id, `token ${expired.id} has expired; create another with \`plantstore token create\``],
      [rotated.id, `token ${rotated.id} was rotated before; rotate its successor, ${successor}`],
    ]) {
      const { status, stdout, stderr } = await token(place.store, 'rotate', String(id))
      assert.deepEqual([status, stdout, stderr], [1, '', `plantstore: ${message}\n`])
    }
    assert.deepEqual(await list(place.store), before)
  })

  exhaustive.test('of many concurrent rotations of a token, one succeeds, and the others fail', async () => {
    await using place = await makePlace()
    const old = await makeToken(place.store)
    const rotate = () => runProgram(['token', 'rotate', old.id, '--store', place.store])
    const rotated = await Promise.all(Array.from({ length: 6 }, rotate))
    const done = rotated.filter(({ status }) => status === 0)
    assert.equal(done.length, 1, rotated.map(({ stderr }) => stderr).join(''))
    for (const { status, stdout, stderr } of rotated) {
      if (status === 0) continue
      assert.equal(status, 1)
      assert.match(stderr, stdout === '' ? /was rotated before/ : /rotated.*; what was printed is not valid$/m)
    }
    assert.equal((await list(place.store)).length, 2)
  })
})

describe('plantstore token rotate', () => {
  for (const [what, redirect] of [
    ['full', '>/dev/full'],
    ['left by its reader', '| true'],
  ] as const) {
    exhaustiveOnFolder(`an output that is ${what} leaves the old token as it was`, async (folder) => {
      const store = folder.file('plants.db')
      const old = await makeToken(store)
      const before = await list(store)
      // The reader has gone before the token is printed.
      const wait = redirect === '| true' ? 'sleep 0.3; ' : ''
      const script = `{ ${wait}"$0" "$@"; echo "status $?" >&2; } ${redirect}`
      const args = ['-c', script, process.execPath, launcher, 'token', 'rotate', old.id, '--store', store]
      const { stderr } = spawnSync('sh', args, { encoding: 'utf8', env: cleanEnvironment() })
      assert.match(stderr, /^plantstore: the output could not be written.*\nstatus 1\n$/)
      assert.deepEqual(await list(store), before)
    })
  }
})
