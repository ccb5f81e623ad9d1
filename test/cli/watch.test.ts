// `plantstore watch` against a running server.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { PlantStoreClient } from '../../client/client.ts'
import { startAnswering } from '../support/answering.ts'
import { cleanEnvironment, type Finished, outputOf, runHere, startProgram } from '../support/program.ts'
import { startSuite } from '../support/service.ts'
import { until } from '../support/time.ts'

describe('plantstore watch', async () => {
  const server = await startSuite()
  const env = { ...cleanEnvironment(), PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: server.token }
  const plants = new PlantStoreClient(server)
  const watch = (...args: string[]): Promise<Finished> =>
    runHere(['watch', '--url', server.url, '--token', server.token, ...args])

  test('changes are printed as they happen, until a signal, and from a position on', async () => {
    const { process: child, finished } = startProgram(['watch'], { env })
    const seen = outputOf({ stdout: child.stdout, stderr: null })
    // The watch begins with the changes of now, so that the first may be missed.
    let id = 100
    await until('the first change', async () => {
      id += 1
      await plants.createPlant({ id, name: 'Watched 🌿', tag: 'w' })
      return seen() !== ''
    })
    await plants.deletePlant(id)
    await until('the delete', () => seen().includes('deleted'))
    child.kill('SIGINT')
    assert.deepEqual((await finished).status, 0)
    const lines = seen().trim().split('\n')
    const changes = lines.map((line) => JSON.parse(line))
    const found = changes.slice(-2).map(({ kind, plant: { name, tag } }) => [kind, name, tag])
    assert.deepEqual(found, [
      ['created', 'Watched 🌿', 'w'],
      ['deleted', 'Watched 🌿', 'w'],
    ])
    const later = startProgram(['watch', '--after', changes.at(-2).position], { env })
    await once(later.process.stdout, 'data')
    later.process.kill('SIGTERM')
    assert.match((await later.finished).stdout, /^\{"position":"[^"]+","time":"[^"]+","kind":"deleted","plant":\{/)
  })

  test('an outage is told of once, and the next one again', async () => {
    const event = 'data: {"position":"1-1","time":"t","kind":"deleted","plant":{"id":1,"name":"n"}}\n\n'
    let requests = 0
    await using flaky = await startAnswering((_, response) => {
      requests += 1
      // Each third request is answered, and the last one never.
      if (requests === 7) return
      if (requests % 3 > 0) response.destroy()
      else response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(event)
    })
    const { process: child, finished } = startProgram(['watch', '--url', flaky.url], { env })
    await until('the second outage is over', () => requests === 7)
    child.kill('SIGINT')
    const { stdout, stderr } = await finished
    assert.equal(stdout.split('\n').length - 1, 2, stderr)
    assert.equal(stderr.match(/cannot be reached: .*; trying again\n/g)?.length, 2, stderr)
  })

  test('a reader that goes away ends it', async () => {
    const { process: child, finished } = startProgram(['watch', '--all'], { env })
    await plants.createPlant({ id: 1, name: 'Rose' })
    await once(child.stdout, 'data')
    child.stdout.destroy()
    await assert.rejects(finished, { code: 'ERR_STREAM_PREMATURE_CLOSE' })
    await plants.deletePlant(1)
    await until('the end', () => child.exitCode !== null)
    assert.equal(child.exitCode, 0)
  })

  test('a refusal is shown in the words of the server, and a missing token in those of the command', async () => {
    const gone = await watch('--after', '7-1')
    assert.deepEqual([gone.status, /^plantstore: 41001: the log does not /.test(gone.stderr)], [1, true])
    assert.match((await watch('--token', 'plt_wrong')).stderr, /^plantstore: http:\/\/\S+ answered 40102: /)
    const both = await watch('--after', '7-1', '--all')
    assert.deepEqual([both.status, /cannot be used with option '--all'/.test(both.stderr)], [2, true])
    const withoutToken = await runHere(['watch', '--url', server.url])
    assert.equal(withoutToken.status, 2)
    assert.match(withoutToken.stderr, /needs an access token: set PLANTSTORE_TOKEN, or give one with --token\n$/)
  })
})
