// A store mounted as a single file, as by `docker -v`: its log and its lock would be in two folders.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { makeFolder } from '../support/folder.ts'
import { cleanEnvironment, launcher, runHere } from '../support/program.ts'
import { inRing } from '../support/ring.ts'
import { makeStore } from '../support/store.ts'

const canMount = userInfo().uid === 0 && spawnSync('unshare', ['-m', 'true']).status === 0

test('a store that is a mounted file is refused by every command, in one line, and nothing is made beside it', {
  skip: !canMount && 'only root can mount',
}, async () => {
  await using folder = await makeFolder()
  const [store, mounted] = [folder.file('plants.db'), folder.file('a mount/plants.db')]
  const [backup, plants] = [folder.file('b.db'), folder.file('in.ndjson')]
  await makeStore(store, 1)
  assert.equal((await runHere(['backup', backup, '--store', store])).status, 0)
  await mkdir(folder.file('a mount'))
  await writeFile(mounted, '')
  await writeFile(plants, '{"id":2,"name":"two"}')
  /** Runs commands where the store is mounted, in a mount namespace that ends with them. Gives what each writes. */
  const run = (...commands: readonly (readonly string[])[]): readonly string[] => {
    const script = `mount --bind "$1" "$2" && shift 2 && for command; do
      eval "set -- $command"; "$NODE" "$LAUNCHER" "$@" 2>&1; echo "status $?"; done`
    const texts = commands.map((args) => args.map((arg) => `'${arg}'`).join(' '))
    const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', store, mounted, ...texts], {
      encoding: 'utf8',
      env: { ...cleanEnvironment(), NODE: process.execPath, LAUNCHER: launcher },
      timeout: 60_000,
    })
    assert.equal(stderr, '')
    return stdout.split(/(?<=status \d+\n)/)
  }
  const refused = `plantstore: ${mounted} is mounted as a single file, without the log and the lock that lie beside it; mount its folder instead\nstatus 1\n`
  const few = [
    ['serve', '--port', '0'],
    ['backup', folder.file('c.db')],
    ['restore', backup, '--force'],
  ]
  const others = ['import --dry-run', 'import', 'export', 'token create --name n', 'token list', 'check']
  const all = others.map((command) => command.replace('import', `import ${plants}`).split(' '))
  const commands = inRing(few, [...few, ...all])
  const said = run(...commands.map((args) => [...args, '--store', mounted]))
  commands.forEach((args, at) => {
    assert.equal(said[at], refused, args.join(' '))
  })
  // Of a live store there would be no log.
  assert.deepEqual(run(['restore', mounted, '--store', folder.file('r.db')]), [refused])
  const message = /^plantstore: \S+ mount\/plants.db (?:is|belongs to) [^\n]*\nstatus 1\n$/
  assert.match(run(['export', mounted, '--store', backup])[0] ?? '', message)
  assert.deepEqual(await readdir(folder.file('a mount')), ['plants.db'])
})
