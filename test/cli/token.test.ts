// `plantstore token`: create, list, revoke, with and without a server.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { makeFolder } from '../support/folder.ts'
import { launcher, runHere } from '../support/program.ts'

describe('plantstore token', () => {
  test('create prints the token alone on stdout, list and revoke never print it', async () => {
    await using folder = await makeFolder()
    const store = ['--store', folder.file('plants.db')]
    const created = await runHere(['token', 'create', '--name', 'laptop', ...store])
    assert.match(created.stdout, /^plt_\w{49}\n$/)
    assert.match(
      created.stderr,
      /^.*tok_\w{12} \(laptop\) has the scopes plants:read plants:write and does not expire.*\nA new store was created at .*\n$/,
    )
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
    assert.deepEqual(Object.keys(first), [
      ...['id', 'name', 'scopes', 'state', 'created', 'expires', 'revoked', 'replacedBy', 'lastUsed'],
    ])
    assert.equal(first.expires, null)
    assert.equal(Date.parse(second.expires) - Date.parse(second.created), 90 * 86_400_000)

    assert.equal((await runHere(['token', 'revoke', first.id, ...store])).status, 0)
    const after = await runHere(['token', 'list', '--json', ...store])
    assert.deepEqual(
      JSON.parse(after.stdout).map(({ state }: { state: string }) => state),
      ['revoked', 'valid'],
    )
    for (const { stdout, stderr } of [table, after]) assert.doesNotMatch(stdout + stderr, /plt_/)
  })

  test('an unknown id is status 1 and says where ids are shown', async () => {
    await using folder = await makeFolder()
    const store = ['--store', folder.file('plants.db')]
    await runHere(['token', 'create', '--name', 'a', ...store])
    const { status, stderr } = await runHere(['token', 'revoke', 'tok_nobody', ...store])
    assert.equal(status, 1)
    assert.equal(stderr, 'plantstore: there is no token tok_nobody; `plantstore token list` shows them\n')
  })

  test('a token that could not be shown is revoked', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    const args = [launcher, 'token', 'create', '--name', 'lost', '--store', path]
    const { status, stderr } = spawnSync('sh', ['-c', 'exec "$0" "$@" >/dev/full', process.execPath, ...args], {
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(stderr, /plantstore: the output could not be written: .*ENOSPC/)
    const list = JSON.parse((await runHere(['token', 'list', '--json', '--store', path])).stdout)
    assert.equal(list[0].state, 'revoked')
  })

  for (const command of [['list'], ['revoke', 'tok_a']]) {
    test(`${command[0]} makes no store where there is none`, async () => {
      await using folder = await makeFolder()
      const { status, stderr } = await runHere(['token', ...command, '--store', folder.file('typo.db')])
      assert.equal(status, 1)
      assert.match(stderr, /^plantstore: there is no store at \S+typo\.db; name one with --store\n$/)
    })
  }

  for (const [flags, message] of [
    [[], /required option '--name <name>' not specified/],
    [['--name', ''], /--name.*must be 1 to 100 characters/],
    [['--name', 'a\nb'], /must be 1 to 100 characters without control characters/],
    [['--name', 'a', '--scope', 'plants:eat'], /must be one or more of plants:read, plants:write/],
    [['--name', 'a', '--scope', ''], /must be one or more of plants:read, plants:write/],
    [['--name', 'a', '--expires', 'soon'], /must be a time such as 90d, 12h, 30m or 60s/],
    [['--name', 'a', '--expires', '0d'], /must be a time such as/],
    [['--name', 'a', '--expires', '9999999999d'], /at most 36500d/],
  ] as const) {
    test(`create ${JSON.stringify(flags)} is misuse: one line and status 2`, async () => {
      const { status, stdout, stderr } = await runHere(['token', 'create', ...flags])
      assert.equal(status, 2)
      assert.equal(stdout, '')
      assert.equal(stderr.split('\n').length, 2, stderr)
      assert.match(stderr, message)
    })
  }
})
