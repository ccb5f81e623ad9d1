// The systemd units of deploy/: systemd accepts them, with a good security rating, and their commands run as specified.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { limits } from '../../src/limits.ts'
import { makeCertificate, noOpenssl } from '../support/certificate.ts'
import { exhaustiveOnFolder, makeFolder, onFolder } from '../support/folder.ts'
import { cleanEnvironment, launcher, outputOf, startServer } from '../support/program.ts'
import { root } from '../support/readme.ts'
import { noStrace } from '../support/strace.ts'
import { until } from '../support/time.ts'
import { readDeployed, replaceAll } from './files.ts'
import { commandOfUnits, isolate, mayIsolate, readUnit, single, type Unit } from './units.ts'

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0
const noAnalyzer = !has('systemd-analyze') && 'there is no systemd-analyze here'
const missing = ['python3', 'systemd-notify', 'unshare', 'setpriv'].filter((program) => !has(program))
const cannotRun =
  (missing.length > 0 && `there is no ${missing.join(' and no ')} here`) ||
  (!mayIsolate && 'only root can make a namespace here')
const cannotTrace = cannotRun || noAnalyzer || noStrace

const unitNames = readdirSync(`${root}/deploy`).filter((name) => /\.(service|socket|timer)$/.test(name))

/** Listens as systemd does, and prints what it is told. */
const listener = `
import socket, sys, os
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
print('listening', flush=True)
while True:
    print(listener.recv(4096).decode(), flush=True)
`

/** Opens a socket as systemd does for a .socket unit, and runs a server on it, then another. */
const activator = `
import socket, subprocess, sys
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(4096)
print(listener.getsockname()[1], flush=True)
for round in range(2):
    server = subprocess.Popen(['sh', '-c', f'exec "$@" 3<&{listener.fileno()}', 'sh'] + sys.argv[1:], pass_fds=[listener.fileno()])
    print('pid', server.pid, flush=True)
    server.wait()
    sys.stdin.readline()
`

describe('the units of deploy/', () => {
  onFolder('are taken by systemd without a word', { skip: noAnalyzer }, async (folder) => {
    for (const name of unitNames) {
      const text = readDeployed(name).replaceAll(commandOfUnits, launcher)
      writeFileSync(folder.file(name.replace('@', '@3001')), text)
    }
    const paths = readdirSync(folder.path).map((name) => folder.file(name))
    assert.equal(paths.length, 5)
    const verify = (): string => {
      const args = ['verify', '--man=no', ...paths]
      const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
      return `${status} ${stdout}${stderr}`
    }
    assert.equal(verify(), '0 ')
    writeFileSync(folder.file('plantstore@3001.socket'), 'ListenStream=nowhere')
    assert.notEqual(verify(), '0 ')
  })

  test('are exposed as little as docs/operating.md says', { skip: noAnalyzer }, () => {
    const docs = readFileSync(`${root}/docs/operating.md`, 'utf8')
    for (const name of ['plantstore@.service', 'plantstore-backup.service']) {
      const path = `${root}/deploy/${name}`
      const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', path], { encoding: 'utf8' })
      const [, score = ''] = /exposure level for \S+: ([\d.]+) /.exec(stdout) ?? []
      assert.ok(Number(score) < 2, `${name}: ${score}`)
      assert.ok(docs.includes(`\`${name}\` ${score}`), `docs/operating.md does not say ${name} ${score}`)
    }
  })

  test('start a server that says when it is ready, reloads its certificate and ends, with nothing but its state', {
    skip: cannotRun || noOpenssl,
  }, async () => {
    await using started = await startUnit()
    const { unit, folder, child, told } = started
    const ask = (): number => {
      const flags = ['--silent', '--insecure', '--write-out', '%{http_code}', '--output', '/dev/null']
      return Number(spawnSync('curl', [...flags, `https://127.0.0.1:${started.port}/readyz`]).stdout)
    }
    assert.equal(ask(), 200)
    makeCertificate(folder, 'site')
    chmodSync(folder.file('site.key'), 0o644)
    const [reload = '', ...flags] = single(unit, 'ExecReload').replace('$MAINPID', String(child.pid)).split(' ')
    assert.equal(spawnSync(reload, flags).status, 0)
    await until('the certificate is read again', () => started.output().includes('certificateLoaded'))
    assert.deepEqual(told(), ['READY=1'])
    await until('systemd is told that the server is alive', started.isAlive)
    child.kill('SIGTERM')
    assert.deepEqual(await started.exited, [0, null], started.output())
    await until('systemd is told of the stop', () => told().length > 1)
    assert.deepEqual(told(), ['READY=1', 'STOPPING=1'])
    assert.ok(Number.parseInt(single(unit, 'TimeoutStopSec'), 10) > 2, 'a stop takes up to two seconds')
    assert.ok(Number.parseInt(single(unit, 'WatchdogSec'), 10) > 3 * (limits.databaseCommitMsMax / 1_000))
    assert.equal(single(unit, 'RestartPreventExitStatus'), '2')
    assert.equal(single(unit, 'LogRateLimitIntervalSec'), '0')
  })

  exhaustiveOnFolder('have clients wait while a server restarts', { skip: cannotRun }, async (folder) => {
    await using stack = new AsyncDisposableStack()
    const unit = readUnit('plantstore@.service', { i: '3001' })
    const hint = '# With plantstore@.socket, use --listen fd:3 instead of --port %i.'
    assert.ok(readDeployed('plantstore@.service').includes(hint))
    const changes = { [commandOfUnits]: launcher, '--port 3001': '--listen fd:3' }
    const command = replaceAll(single(unit, 'ExecStart'), changes).split(' ')
    const args = ['-c', activator, process.execPath, ...command, '--store', folder.file('plants.db')]
    const child = spawn('python3', args, { env: cleanEnvironment() })
    const exited = once(child, 'close')
    const output = outputOf(child)
    const pids = (): number[] => [...output().matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid))
    stack.defer(async () => {
      // The one that runs now: the number of one that has ended may be another's.
      const running = pids().at(-1)
      child.kill('SIGKILL')
      if (running !== undefined) process.kill(running, 'SIGKILL')
      await exited
    })
    await until('the server listens', () => output().includes('listens on'))
    const url = `http://127.0.0.1:${/^\d+/.exec(output())?.[0]}/livez`
    assert.equal((await fetch(url)).status, 200)
    process.kill(pids()[0] ?? 0, 'SIGTERM')
    await until('the server has ended', () => output().includes('serverStopped'))
    const waiting = fetch(url)
    child.stdin.write('go on\n')
    assert.equal((await waiting).status, 200)
  })

  exhaustiveOnFolder('make dated backups, of which some are kept', { skip: cannotRun }, async (folder) => {
    chmodSync(folder.path, 0o755)
    const state = folder.file('state')
    mkdirSync(`${state}/plantstore/backups`, { recursive: true })
    const unit = readUnit('plantstore-backup.service', { S: state })
    const command = replaceAll(single(unit, 'ExecStart'), { [commandOfUnits]: launcher }).split(' ')
    const keep = Number(/(?<=--keep )\d+/.exec(single(unit, 'ExecStart'))?.[0])
    const store = `${state}/plantstore/plants.db`
    await (await startServer(store)).stop()
    for (const path of [store, state, `${state}/plantstore`]) chmodSync(path, 0o777)
    for (let night = 0; night < 2; night += 1) {
      const [program = '', ...args] = isolate(command, [`${state}/plantstore`, `${state}/plantstore/backups`])
      const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, PLANTSTORE_STORE: store }
      const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
    assert.ok(keep > 2)
    assert.equal(readdirSync(`${state}/plantstore/backups`).length, 2)
  })

  onFolder('mail root what has become of a server or backup that failed', async (folder) => {
    for (const name of ['plantstore@.service', 'plantstore-backup.service']) {
      assert.equal(single(readUnit(name), 'OnFailure'), 'plantstore-failed@%n.service', name)
    }
    const unit = readUnit('plantstore-failed@.service', { i: 'plantstore-backup.service', H: 'garden' })
    const [, script = ''] = /^\/bin\/sh -c '(.*)'$/.exec(single(unit, 'ExecStart')) ?? []
    const systemctl = '#!/bin/sh\necho "systemctl $*: status=1/FAILURE"; exit 3\n'
    writeFileSync(folder.file('systemctl'), systemctl, { mode: 0o755 })
    const mail = spawnSync('/bin/sh', ['-c', replaceAll(script, { '/usr/sbin/sendmail -t': 'cat' })], {
      env: { PATH: `${folder.path}:/usr/bin:/bin` },
      encoding: 'utf8',
    })
    assert.deepEqual([mail.status, mail.stderr], [0, ''])
    const head = 'To: root\nSubject: plantstore-backup.service has failed on garden'
    const body = 'systemctl status --full --lines=20 plantstore-backup.service: status=1/FAILURE'
    assert.equal(mail.stdout, `${head}\n\n${body}\n`)
  })

  exhaustiveOnFolder('let a server make its calls to the system', { skip: cannotTrace }, async (folder) => {
    const calls = folder.file('calls')
    chmodSync(folder.path, 0o755)
    await using started = await startUnit(['strace', '-f', '-qq', '-o', calls], [folder.path])
    // strace passes no signal on.
    const { pid } = started.child
    const [server = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    process.kill(Number(server), 'SIGTERM')
    await started.exited
    const used = new Set([...readFileSync(calls, 'utf8').matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = '']) => name))
    assert.ok(used.size > 30)
    const allowed = allowedCalls(started.unit)
    const refused = [...used].filter((name) => !allowed.has(name))
    assert.deepEqual(refused, [])
    assert.ok(!allowed.has('setuid') && !allowed.has('mount'))
  })
})

/** Starts the server's unit on a free port and with a certificate, by a command `before` that writes to `writable`. */
async function startUnit(before: readonly string[] = [], writable: readonly string[] = []) {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await makeFolder())
  chmodSync(folder.path, 0o755)
  const { cert, key } = makeCertificate(folder, 'site')
  chmodSync(key, 0o644)
  spawnSync('mkdir', ['-p', folder.file('state/plantstore')])
  const unit = readUnit('plantstore@.service', { i: '0', S: folder.file('state') })
  const node = dirname(process.execPath)
  // Any free port for the metrics, too.
  const settings = (unit.get('Environment') ?? []).map((setting) =>
    setting.replace('/opt/plantstore/node_modules/.bin', node).replace('127.0.0.1:10', '127.0.0.1:0'),
  )
  const socket = folder.file('notify')
  const systemd = spawn('python3', ['-c', listener, socket])
  stack.defer(() => void systemd.kill())
  const told = outputOf(systemd)
  await until('somebody listens for what systemd is told', () => told().includes('listening'))

  const command = replaceAll(single(unit, 'ExecStart'), { [commandOfUnits]: launcher }).split(' ')
  const wanted = [...before, ...command, '--tls-cert', cert, '--tls-key', key]
  const [program = '', ...args] = isolate(wanted, [folder.file('state/plantstore'), ...writable])
  const environment = Object.fromEntries(settings.map((setting) => setting.split(/=(.*)/s, 2) as [string, string]))
  const { NODE_COMPILE_CACHE } = cleanEnvironment()
  const env = { ...environment, NODE_COMPILE_CACHE, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '300000' }
  const child = spawn(program, args, { env })
  const exited = once(child, 'close')
  stack.defer(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const output = outputOf(child)
  const states = (): readonly string[] => told().match(/^(READY|STOPPING).*$/gm) ?? []
  await until('systemd is told that the server is ready', () => states().length > 0 || child.exitCode !== null)
  assert.equal(child.exitCode, null, output())
  assert.ok(existsSync(folder.file('state/plantstore/plants.db')))
  const kept = stack.move()
  return {
    ...{ unit, folder, child, output },
    /** The status and signal that it ended with. */
    exited: exited as Promise<unknown[]>,
    /** What systemd was told, but for its own questions. */
    told: states,
    port: Number(/listens on https:\/\/127\.0\.0\.1:(\d+)/.exec(output())?.[1]),
    /** Whether systemd was told so. */
    isAlive: () => told().includes('WATCHDOG=1'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** The calls that `SystemCallFilter` lets through. */
function allowedCalls(unit: Unit): ReadonlySet<string> {
  const { stdout } = spawnSync('systemd-analyze', ['syscall-filter', '--no-pager'], { encoding: 'utf8' })
  const sets = new Map<string, string[]>()
  let members: string[] = []
  for (const line of stdout.split('\n').map((each) => each.replace(/^# /, ''))) {
    if (line.startsWith('@')) {
      members = []
      sets.set(line.trim(), members)
    }
    if (/^ {4}[\w@]/.test(line)) members.push(line.trim())
  }
  const resolve = (name: string): string[] => (name.startsWith('@') ? (sets.get(name) ?? []).flatMap(resolve) : [name])
  const allowed = new Set(resolve('@default'))
  for (const filter of unit.get('SystemCallFilter') ?? []) {
    const isDenied = filter.startsWith('~')
    for (const name of filter.replace('~', '').split(' ').flatMap(resolve)) {
      if (isDenied) allowed.delete(name)
      else allowed.add(name)
    }
  }
  return allowed
}
