// `plantstore verify` against the service itself, and against small servers that do no more than the document specifies.

import assert from 'node:assert/strict'
import { readFile, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { after, describe, test } from 'node:test'
import { PlantStoreClient } from '../../client/client.ts'
import type { RowName } from '../../verify/results.ts'
import { rowsOf, verify as verifyRows } from '../../verify/verify.ts'
import { startAnswering } from '../support/answering.ts'
import { describeOnEngines } from '../support/engines.ts'
import {
  cleanEnvironment,
  type Finished,
  type RunningProgram,
  runHere,
  runProgram,
  startProgram,
} from '../support/program.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { makeTokens } from '../support/rows.ts'
import { serveSuite, startOwnServer } from '../support/service.ts'
import { accepts, receives, rounded, text } from './operators.ts'
import { only, overwrites, startWrong } from './wrong-servers.ts'

describeOnEngines('plantstore verify of the service', async (engine) => {
  const { place, server } = await serveSuite(engine)

  test('passes all rows, none of them skipped, and leaves nothing', async () => {
    const tokens = await makeTokens(place.store, server.token)
    const ofRing = new Set(inRing(someOfEach(), rowsOf()).map(({ title }) => title))
    const only = ({ title }: RowName): boolean => ofRing.has(title)
    const { counts, rows, left } = await verifyRows({ url: server.url, ...tokens, only })
    const others = rows.filter(({ outcome }) => outcome !== 'passed')
    assert.deepEqual(others, [])
    assert.deepEqual(left, [])
    assert.ok(rowsOf().length >= 400 && counts.passed === ofRing.size, `${counts.passed} of ${ofRing.size}`)
    const client = new PlantStoreClient({ url: server.url, token: server.token })
    assert.deepEqual(await Array.fromAsync(client.listPlants()), [])
  })
})

describe('plantstore verify', async () => {
  const own = await startOwnServer()
  const { server, folder } = own
  const env = { ...cleanEnvironment(), PLANTSTORE_TOKEN: server.token, PLANTSTORE_URL: server.url }

  after(() => own[Symbol.asyncDispose]())

  const verify = (url: string, ...flags: string[]): Promise<Finished> =>
    runHere(['verify', url, '--token', server.token, ...flags])

  const client = new PlantStoreClient({ url: server.url, token: server.token })
  const idsLeft = async (): Promise<readonly bigint[]> =>
    (await Array.fromAsync(client.listPlants())).map(({ id }) => BigInt(id))

  test('sends every token that a flag gives it', async () => {
    const sent = new Set<string | undefined>()
    // It makes nothing sure, so that nothing is looked up.
    await using failing = await startAnswering(({ headers }, response) => {
      sent.add(headers.authorization)
      response.writeHead(500).end()
    })
    const names = ['second', 'read-only', 'write-only', 'expired', 'revoked']
    const flags = names.flatMap((name) => [`--${name}-token`, `of-${name}`])
    await verify(failing.url, ...flags)
    for (const name of names) assert.ok(sent.has(`Bearer of-${name}`), name)
  })

  test('takes the server and the token from the environment', async () => {
    const { status, stdout } = await runProgram(['verify', '--level', 'specified', '--verbose'], { env })
    assert.equal(status, 0)
    assert.match(stdout, new RegExp(`^${server.url}, level specified, ids 999999999999500000 to 1000000000000499999\n`))
    assert.match(stdout, /^ {2}passed {3}neighbouring ids beyond 2\^53 are two plants$/m)
    assert.deepEqual(await idsLeft(), [])
  })

  test("leaves somebody's plant in the range alone, and sends nothing else", async () => {
    const flags = inRing(['--level', 'specified'], [])
    const id = 1000000000000077777n
    await client.createPlant({ id, name: 'Ficus' })
    const { status, stdout, stderr } = await verify(server.url, ...flags)
    assert.deepEqual([status, stdout], [1, ''])
    const why = `${server.url} has a plant ${id}, which must not be touched`
    assert.equal(stderr, `plantstore: ${why}; give the first of 1000000 ids that are free with --ids\n`)
    assert.deepEqual(await idsLeft(), [id])
    const elsewhere = await verify(server.url, '--ids', '-9223372036854775808', '--json', ...flags)
    assert.equal(elsewhere.status, 0, elsewhere.stdout)
    assert.deepEqual(await idsLeft(), [id])
    await client.deletePlant(id)
  })

  test('skips rows that a server might take for a plant that is there, if it overwrites plants', async () => {
    const there = [0n, 9223372036854775807n]
    for (const id of there) await client.createPlant({ id, name: 'Olea' })
    const [zero, largest] = there.map(
      (id) => `a faulty server might confuse its id with ${id}, and overwrite that plant`,
    )
    const exact = {
      'neighbouring ids beyond 2^53 are two plants': 'the given range has ids that JavaScript numbers hold exactly',
    }
    const unsafe = {
      ...exact,
      'a second create of the same id is answered with a Plant or an Error': undefined,
      'a body without an id is no plant': zero,
      'an id that is null is refused': zero,
      'an id past the end of int64 is refused': largest,
    }
    const reasonsAt = async (url: string): Promise<object> => {
      const only = ({ title }: RowName): boolean => Object.hasOwn(unsafe, title)
      const { rows } = await verifyRows({ url, token: server.token, firstId: 1n, only })
      return Object.fromEntries(rows.map(({ title, skipped }) => [title, skipped]))
    }
    await using overwriting = await startWrong(server, overwrites)
    assert.deepEqual(await reasonsAt(overwriting.url), unsafe)
    const none = Object.fromEntries(Object.keys(unsafe).map((title) => [title, undefined]))
    assert.deepEqual(await reasonsAt(server.url), { ...none, ...exact })
    assert.deepEqual(await idsLeft(), there)
    for (const id of there) await client.deletePlant(id)
  })

  test('says what was sent, what came and what the document says, without the token', async () => {
    const isAbout = only(
      ({ body }) => body.toString().includes('"tag":"aroid"'),
      async (received, forward) => {
        const answered = await forward(received)
        const body = Buffer.from(`{"name":"\u001b[31m${server.token} ${server.token.slice(0, 30)}"}`)
        const fields = ['Content-Type', `text/${server.token}`, 'Content-Length', String(body.length)]
        return { ...answered, fields, body }
      },
    )
    await using wrong = await startWrong(server, isAbout)
    const { status, stdout } = await verify(wrong.url, '--level', 'specified')
    assert.equal(status, 1)
    assert.ok(
      stdout.includes(
        [
          'FAILED  the document itself: a NewPlant with a tag is answered with its Plant',
          '  sent      POST /plants',
          '            {"id":999999999999501312,"name":"Monstera deliciosa","tag":"aroid"}',
          '  came      200, text/$TOKEN',
          '            {"name":"\ufffd[31m$TOKEN $TOKEN..."}',
          '  wrong     the Content-Type is "text/$TOKEN", not application/json',
          '  document  a NewPlant with a bearer credential is answered with 200 and a Plant: its name, and its tag if it has one (the response 200 of POST /plants)',
        ].join('\n'),
      ),
      stdout,
    )
    assert.ok(!stdout.includes(server.token.slice(0, 10)))
  })

  test('writes JUnit XML, whole or not at all', async () => {
    const takesTags = accepts('POST /plants 400', text(/"tag":7/, '"tag":"7"'))
    await using wrong = await startWrong(server, takesTags)
    const file = folder.file('report.xml')
    const { status } = await verify(wrong.url, '--level', 'specified', '--junit', file)
    assert.equal(status, 1)
    const xml = await readFile(file, 'utf8')
    assert.match(
      xml,
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="plantstore verify" tests="\d+" failures="1"/,
    )
    const row = '<testcase classname="the document itself" name="a body whose tag is a number is refused">'
    const failure = '<failure message="the status is 200; a refusal is 4xx">[^<]*"tag":7[^<]*</failure>'
    assert.match(xml, new RegExp(`${row}\n${failure}`))
    assert.match(xml, /<\/testsuites>\n$/)
  })

  test('writes JUnit XML over nothing but ordinary files, and says so before anything is sent', async () => {
    await symlink(folder.file('real.xml'), folder.file('link'))
    const missing = folder.file('none/report.xml')
    for (const path of [folder.file('link'), dirname(folder.file('link')), '/dev/null', missing]) {
      const { status, stderr } = await verify('http://127.0.0.1:9', '--junit', path)
      assert.equal(status, 1)
      assert.match(
        stderr,
        /^plantstore: .* (?:is not a regular file|is a folder|does not exist; create it first)\b.*\n$/,
      )
    }
    await assert.rejects(readFile(folder.file('real.xml')), { code: 'ENOENT' })
  })

  test('of a program that ends it deletes its plants, then rejects with the reason', async () => {
    const ending = new AbortController()
    const onRow = (): void => ending.abort(new Error('enough'))
    const asked = { url: server.url, token: server.token, level: 'specified', onRow, signal: ending.signal } as const
    await assert.rejects(verifyRows(asked), /^Error: enough$/)
    assert.deepEqual(await idsLeft(), [])
  })

  exhaustive.test('ends at SIGINT with what it has, and deletes its plants', async () => {
    const [creates, rowsAtOnce] = [20, 32]
    let sent = 0
    const { promise: isStopping, resolve: stop } = Promise.withResolvers<void>()
    let child: RunningProgram | undefined
    const interrupting = only(
      ({ method }) => method === 'POST',
      async (received, forward) => {
        sent += 1
        // Rows run side by side: others are sent while this one is answered.
        const isTheOne = sent === creates
        const answered = await forward(received)
        if (isTheOne) child?.process.kill('SIGINT')
        // However late the signal comes, nothing is answered before it.
        if (sent >= creates) await isStopping
        return answered
      },
    )
    await using wrong = await startWrong(server, interrupting)
    child = startProgram(['verify', wrong.url], { env })
    child.process.stderr.once('data', () => stop())
    const { status, stdout, stderr } = await child.finished
    assert.deepEqual([status, stderr], [1, 'Stopping; the plants of the run are being deleted.\n'])
    assert.match(stdout, /^\d+ skipped: the run was stopped$/m)
    // Some rows create several plants at once.
    assert.ok(sent < creates + 2 * rowsAtOnce, `${sent}`)
    assert.deepEqual(await idsLeft(), [])
  })

  test('deletes its plants on a server that cannot list them, and rounds their ids', async () => {
    const rounds = text(/(?<="id":)\d+/, rounded)
    const confuses = receives('GET|POST /plants', (it) => (it.method === 'GET' ? { target: '/no' } : rounds(it)))
    await using wrong = await startWrong(server, confuses)
    await client.createPlant({ id: '999999999999502336', name: 'Ficus' })
    const refused = await verify(wrong.url, '--level', 'specified')
    assert.match(refused.stderr, /has a plant 999999999999502336, which must not be touched/)
    await client.deletePlant('999999999999502336')
    const { status, stdout } = await verify(wrong.url, '--level', 'specified')
    assert.equal(status, 1)
    assert.doesNotMatch(stdout, /^int64/m)
    assert.deepEqual(await idsLeft(), [])
  })

  exhaustive.test('deletes its plants when answers are lost', async () => {
    let creates = 0
    const loses = only(
      ({ method, body }) => method === 'POST' && body.toString().startsWith('{"id":9'),
      async (received, forward) => {
        const answered = await forward(received)
        creates += 1
        return creates % 4 === 0 ? 'reset' : answered
      },
    )
    await using losing = await startWrong(server, loses)
    const { status, stdout } = await verify(losing.url, '--level', 'specified')
    assert.equal(status, 1)
    assert.match(stdout, /^ {2}wrong +the connection was closed without an answer$/m)
    assert.deepEqual(await idsLeft(), [])
  })

  exhaustive.test('says what it could not delete', async () => {
    const keeps = receives('DELETE', () => ({ method: 'PATCH' }))
    await using keeping = await startWrong(server, keeps)
    const { status, stdout } = await verify(keeping.url, '--level', 'specified')
    assert.equal(status, 0)
    assert.match(stdout, /^Left on the server, because it could not be deleted:\n {2}plant 999999999999501312$/m)
    assert.match(stdout, /^The next run on this server needs other ids: see --ids\.$/m)
    assert.notDeepEqual(await idsLeft(), [])
    const again = await verify(server.url, '--level', 'specified')
    assert.match(again.stderr, /has a plant 999999999999501312, which must not be touched/)
    const elsewhere = await verify(server.url, '--level', 'specified', '--ids', '9100000000002000000')
    assert.equal(elsewhere.status, 0)
  })

  test('a URL of the environment is named as that, and a token is never shown', async () => {
    const fromEnvironment = await runHere(['verify', '--token', 't'], { environment: { PLANTSTORE_URL: 'nowhere' } })
    assert.equal(fromEnvironment.status, 2)
    assert.match(fromEnvironment.stderr, /^plantstore: PLANTSTORE_URL: must be a URL such as/)
    const { status, stderr } = await runHere(['verify', server.url, '--token', 'secret\nvalue'])
    assert.equal(status, 2)
    assert.doesNotMatch(stderr, /secret/)
  })

  test('a server that is not there is one clear line', async () => {
    const { status, stdout, stderr } = await verify('http://127.0.0.1:9')
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /^plantstore: http:\/\/127\.0\.0\.1:9 cannot be reached: .*; is the server running there\?\n$/)
  })
})

/** One row of each subject, and those of streams. test/http/rows.test.ts runs all others. */
function someOfEach(): readonly RowName[] {
  const kindOf = ({ subject, title }: RowName): string => (/^a stream |event-stream/.test(title) ? title : subject)
  return [...new Map(rowsOf().map((row) => [kindOf(row), row])).values()]
}
