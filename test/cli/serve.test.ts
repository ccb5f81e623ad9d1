// `plantstore serve`: its output, the settings with which it does not start, and how it ends.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/limits.ts'
import { listen } from '../support/answering.ts'
import { encodeRequest, plantJson } from '../support/client.ts'
import { onFolder } from '../support/folder.ts'
import { sample } from '../support/own-documents.ts'
import {
  cleanEnvironment,
  houseplants,
  importHere,
  launcher,
  outputOf,
  runHere,
  startProgram,
  startServer,
} from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { exhaustiveOnOwnServer, onOwnServer, serveHere, startOwnServer } from '../support/service.ts'
import { damageTable, exhaustiveOnPath, onPath } from '../support/store.ts'
import { assertPrompt, until } from '../support/time.ts'

/** How long a server may take to end after a signal. */
const stopMsMax = 2_000
/** A process that stands still for longer has too little of the machine for what must happen at once. */
const busyMs = 50

/** What curl does with a printed line: the second ring has curl itself (listening.test.ts). */
async function runCurl(line: string): Promise<string> {
  const [, url = '', authorization = '', type, body] =
    /^curl -i (\S+) -H 'Authorization: ([^']*)'(?: -H 'Content-Type: ([^']*)' -d '([^']*)')?$/.exec(line) ?? []
  const headers = { Authorization: authorization, ...(type !== undefined && { 'Content-Type': type }) }
  const response = await fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body })
  return `HTTP/1.1 ${response.status} ${response.statusText}\r\n\r\n${await response.text()}`
}

describe('plantstore serve', () => {
  onPath('the first start prints the address, a token, once, and a curl line that works as it stands', async (path) => {
    {
      await using server = await serveHere(path)
      const { url, token, welcome } = server
      assert.match(welcome, /^Plant Store \d+\.\d+\.\d+ listens on http:\/\/127\.0\.0\.1:\d+\n/)
      assert.ok(welcome.includes(`\nThe page: ${url}/#token=${token}\nThe reference: ${url}/docs\n`), welcome)
      const answer = await runCurl(/^ {2}(curl .*)$/m.exec(welcome)?.[1] ?? '')
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"name":"Monstera deliciosa","tag":"aroid"\}$/)
    }
    await using again = await serveHere(path)
    const { url, welcome } = again
    assert.doesNotMatch(welcome, /plt_/)
    assert.ok(welcome.includes(`\nThe page: ${url}/\nThe reference: ${url}/docs\n`), welcome)
    const [, hint = ''] = /^To create a token: npx plantstore (.*)\n$/m.exec(welcome) ?? []
    assert.equal(hint, `token create --name NAME --store ${path}`)
    assert.match((await runHere(hint.split(' '))).stdout, /^plt_\w+$/m)
  })

  onFolder("suggests no plant with a document of one's own, which may refuse it", async (folder) => {
    const document = folder.file('own.yaml')
    await writeFile(document, sample)
    await using server = await serveHere(folder.file('plants.db'), {}, { document })
    assert.match(server.welcome, /^List the plants:\n\n {2}curl -i \S+ -H '[^']*'$/m)
  })

  onFolder('is plantstore without a command; --first-token-file - prints a token, in no address', async (folder) => {
    const settings = { PORT: '0', STORE: folder.file('plants.db'), FIRST_TOKEN_FILE: '-', LOG: 'all' }
    const variables = Object.entries(settings).map(([name, value]) => [`PLANTSTORE_${name}`, value])
    const env = { ...cleanEnvironment(), ...Object.fromEntries(variables) }
    const { process: child, finished } = startProgram([], { env })
    const shown = outputOf({ stdout: null, stderr: child.stderr })
    await until('it shows a token', () => /^ {2}curl .*\n/m.test(shown()))
    assert.match(await runCurl(/^ {2}(curl .*)$/m.exec(shown())?.[1] ?? ''), /^HTTP\/1\.1 200 OK\r\n/)
    // The types of scripts are removed in a thread, whose warnings no listener of the process gets.
    assert.equal((await fetch(`${/listens on ([^\s,]+)/.exec(shown())?.[1]}/site/home.js`)).status, 200)
    child.kill()
    const { status, stdout, stderr } = await finished
    assert.equal(status, 0)
    assert.doesNotMatch(stderr, /Warning/)
    assert.match(stderr, /^Plant Store \S+ listens on http[\s\S]*\nThe page: http:\/\/127\.0\.0\.1:\d+\/\n/)
    assert.doesNotMatch(stdout, /plt_/)
  })

  onFolder('stops when npm, which started it, gets a signal', async (folder) => {
    const command = `'${process.execPath}' '${launcher}' serve --port 0 --store '${folder.file('plants.db')}'; true`
    const environment = { ...cleanEnvironment(), npm_lifecycle_event: 'start' }
    // npm runs scripts in such a shell, and signals it alone.
    const shell = spawn('sh', ['-c', command], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
    const log = outputOf(shell)
    await until('it listens', () => log().includes('serverListening'))
    shell.kill('SIGTERM')
    // The pipe is closed when the server has ended.
    await once(shell, 'close')
    assert.match(log(), /"event":"serverStopping","reason":"SIGHUP"/)
    assert.match(log(), /"event":"serverStopped"/)
  })

  onFolder('what keeps it from starting is one line and status 1; commands work beside a server', async (folder) => {
    await using server = await serveHere(folder.file('taken.db'))
    for (const [store, flag, value, line] of [
      // It may have the address later, as one that takes over from another machine.
      ['p.db', '--host', '192.0.2.1', /^192\.0\.2\.1 is not an address of this machine; choose another with --host$/],
      ['p.db', '--port', server.port, /^port \d+ of \S+ is taken; choose another with --port, or 0 for any free one$/],
      ['taken.db', '--port', 0, /taken\.db is in use by another plantstore server; stop it or name another file$/],
    ] as const) {
      const args = ['serve', '--port', '0', '--store', folder.file(store), flag, String(value)]
      const { status, stdout, stderr } = await runHere(args)
      assert.deepEqual([status, stdout], [1, ''])
      const [, said = ''] = /^plantstore: ([^\n]*)\n$/.exec(stderr) ?? []
      assert.match(said, line)
    }
    assert.equal((await runHere(['token', 'create', '--name', 'a', '--store', folder.file('taken.db')])).status, 0)
  })

  test('--log all is a line a request in JSON, and has no secret', async () => {
    await using own = await startOwnServer({ args: ['--log', 'all'] })
    const { server, client } = own
    await client.create(1n, 'n')
    await client.request({ method: 'GET', target: `/nowhere?access_token=${server.token}` })
    await client.request({ headers: { 'Content-Type': 'application/json', 'Content-Length': '70000' } })
    await server.sees('"status":413')
    await server.stop()
    const { stdout } = server.output
    const lines = stdout.trimEnd().split('\n')
    const events = lines.map((line) => JSON.parse(line)).map(({ event, status = '' }) => `${event} ${status}`)
    const requests = ['200', '200', '404', '413'].map((status) => `requestFinished ${status}`)
    assert.deepEqual(events, ['serverListening ', ...requests, 'serverStopping ', 'serverStopped '])
    assert.ok(!stdout.includes(server.token))
    assert.match(JSON.parse(lines[0] ?? '').message, /listens on http:\/\/127/)
  })

  onOwnServer('SIGTERM lets requests in flight finish, and ends with 0 within 2 s', async ({ server, client }) => {
    await using stuck = await client.open()
    stuck.send(encodeRequest(server.token, { body: plantJson(2n, 'never') }).subarray(0, -5))
    await using idle = await client.open()
    await idle.request({ method: 'GET', target: '/livez' })
    await using busy = await client.open()
    const request = encodeRequest(server.token, { body: plantJson(1n, 'in flight') })
    busy.send(request.subarray(0, -5))
    await using wrong = await client.open()
    const refused = encodeRequest(server.token, { body: '{"id":"two"}' })
    wrong.send(refused.subarray(0, -5))
    assert.equal((await client.request({ method: 'GET', target: '/readyz' })).status, 200)
    const stoppedAt = performance.now()
    const exited = server.stop('SIGTERM')
    await server.sees('stopping: SIGTERM')
    const ready = await client.request({ method: 'GET', target: '/readyz' })
    assert.equal(ready.status, 503)
    assert.equal(ready.headers.get('connection'), 'close')
    await idle.closed()
    busy.send(request.subarray(-5))
    const response = await busy.answerTo('POST', '/plants')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('connection'), 'close')
    wrong.send(refused.subarray(-5))
    const refusal = await wrong.answerTo('POST', '/plants')
    assert.equal(refusal.status, 400)
    assert.equal(refusal.headers.get('connection'), 'close')
    assert.equal(await exited, 0)
    assertPrompt(stoppedAt, stopMsMax)
  })

  exhaustiveOnOwnServer('clients that connect anew when asked to lose no request', async ({ server, client }) => {
    const failures: unknown[] = []
    let answered = 0
    const work = async (): Promise<void> => {
      for (;;) {
        // A connection that is refused is no request that was lost: nobody listens any more.
        const connection = await client.open().catch(() => undefined)
        if (connection === undefined) return
        await using open = connection
        for (let isOpen = true; isOpen; ) {
          const answer = await open.request({ method: 'GET', target: '/livez' }).catch((error: unknown) => {
            failures.push(error)
          })
          answered += 1
          isOpen = answer !== undefined && answer.headers.get('connection') !== 'close'
        }
      }
    }
    const clients = Array.from({ length: 40 }, work)
    await until('all of them are at work', () => answered > 400)
    const delays = monitorEventLoopDelay()
    delays.enable()
    const stoppedAt = performance.now()
    assert.equal(await server.stop(), 0)
    assertPrompt(stoppedAt, stopMsMax)
    await Promise.all(clients)
    delays.disable()
    // Clients that stand still meanwhile connect to a server that has just stopped to listen.
    const isBusy = delays.max / 1e6 > busyMs
    assert.ok(isBusy || failures.length === 0, `${failures.length} of ${answered}: ${failures[0]}`)
  })

  exhaustiveOnOwnServer('a second signal ends at once, but for the same one so soon', async ({ server, client }) => {
    await using stuck = await client.open()
    stuck.send(encodeRequest(server.token, { body: plantJson(1n, 'never') }).subarray(0, -5))
    await client.request({ method: 'GET', target: '/livez' })
    server.process.kill('SIGTERM')
    await server.sees('stopping: SIGTERM')
    // npm may pass it on a second time.
    server.process.kill('SIGTERM')
    await sleep(limits.sameSignalMs + 50)
    // After the first signal alone it would be 0.
    assert.equal(await server.stop('SIGINT'), null)
  })

  exhaustive.test('a signal before the server is ready ends it with 0, too', async () => {
    // A database that takes connections and says nothing keeps the server from being ready.
    const silent = createServer()
    const port = await listen(silent)
    const server = startProgram(['serve', '--port', '0', '--store', `postgres://127.0.0.1:${port}/plants`])
    await once(silent, 'connection')
    server.process.kill('SIGTERM')
    const { status, stderr, stdout } = await server.finished
    silent.close()
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, /stopping: SIGTERM.*\n.*"event":"serverStopped"/)
  })

  exhaustive.test('a server continues when its log cannot be written', async () => {
    await using own = await startOwnServer({ args: ['--log', 'all'], under: ['sh', '-c', 'exec "$0" "$@" >/dev/full'] })
    const { server, client } = own
    for (let id = 0n; id < 20n; id += 1n) assert.equal((await client.create(id, 'n')).status, 200)
    assert.equal(await server.stop(), 0)
  })

  exhaustive.test('lines of an unread log are dropped and counted', async () => {
    await using own = await startOwnServer({ args: ['--log', 'all'], limits: { logWaitingBytesMax: 16 * 1024 } })
    const { server, client } = own
    const { output } = server
    server.process.stdout?.pause()
    await using connection = await client.open()
    let asked = 0
    const ask = async (): Promise<void> => {
      await connection.request({ method: 'GET', target: '/livez' })
      asked += 1
    }
    // What the system keeps for a reader is on top of what the server does.
    while (asked < 5_000) await ask()
    server.process.stdout?.resume()
    await until('the log goes on', async () => {
      await ask()
      return output.stdout.includes('linesDropped')
    })
    const accounted = (): number => {
      const dropped = output.stdout.matchAll(/"event":"linesDropped","lines":(\d+)/g)
      const logged = output.stdout.split('"path":"/livez"').length - 1
      return [...dropped].reduce((sum, [, lines]) => sum + Number(lines), logged)
    }
    await until('the rest of the log is read', () => accounted() >= asked)
    assert.equal(accounted(), asked)
  })

  exhaustiveOnPath('a store with one damaged page is not served, or not for long if it is large', async (path) => {
    await importHere(houseplants, path)
    await damageTable(path, 'plants_by_tag')
    await assert.rejects(startServer(path), /is damaged: .*; restore a backup/)
    const output = await startServer(path, { limits: { storeCheckBytesMax: 0 } }).then(
      async (server) => {
        assert.equal(await server.exited, 1)
        return server.output.stdout
      },
      // It may be found before the server is ready.
      (error: Error) => error.message,
    )
    assert.match(output, /"event":"storeFailed".*the store is damaged/)
  })

  exhaustiveOnOwnServer('a server ends although others keep its store busy', async ({ server, client, store }) => {
    using other = new DatabaseSync(store)
    other.exec('BEGIN IMMEDIATE')
    await using waiting = await client.open()
    waiting.send(encodeRequest(server.token, { body: plantJson(1n, 'waits') }))
    await client.request({ method: 'GET', target: '/livez' })
    const stoppedAt = performance.now()
    const exited = server.stop()
    assert.equal((await waiting.answerTo('POST', '/plants')).status, 503)
    assert.equal(await exited, 0)
    assertPrompt(stoppedAt, stopMsMax)
  })

  exhaustive.test('to the journal of systemd each warning is said once, with its priority', async () => {
    const environment = { PLANTSTORE_STROE: 'postgres://db/plants', PLANTSTORE_TOKEN: 'x', PLANTSTORE_LOG: 'errors' }
    const under = ['sh', '-c', 'export JOURNAL_STREAM=$(stat -Lc %d:%i /proc/$$/fd/1); exec "$0" "$@"']
    await using own = await startOwnServer({ environment, under })
    const { server } = own
    await server.sees('listens on')
    const { stdout, stderr } = server.output
    const lines = stdout.trimEnd().split('\n')
    const found = lines.map((line) => [line.slice(0, 3), JSON.parse(line.slice(3)).event])
    assert.deepEqual(found, [
      ['<4>', 'serverWarning'],
      ['<6>', 'serverListening'],
    ])
    const expected = 'PLANTSTORE_STROE is not a setting; run `plantstore config` to list them'
    assert.equal(JSON.parse((lines[0] ?? '').slice(3)).message, expected)
    // It is another stream, which the journal does not read.
    assert.doesNotMatch(stderr, /warning|^</m)
  })

  exhaustiveOnOwnServer('SIGUSR1 and SIGHUP do nothing, SIGQUIT stops as SIGTERM does', async ({ server }) => {
    server.process.kill('SIGUSR1')
    for (let count = 0; count < 3; count += 1) {
      server.process.kill('SIGHUP')
      assert.equal((await fetch(`${server.url}/livez`)).status, 200)
    }
    await sleep(limits.sameSignalMs)
    assert.equal(await server.stop('SIGQUIT'), 0)
    assert.match(server.output.stdout, /"stopping: SIGQUIT"[\s\S]*"serverStopped"/)
    assert.doesNotMatch(server.output.stderr, /Debugger/)
  })
})
