// Deliberately wrong servers: each is named by exactly the rows that are about what it does wrong.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { makeFolder } from '../support/folder.ts'
import { type Finished, runHere, startServer } from '../support/program.ts'
import {
  answersHtml,
  type Behaviour,
  hasOtherErrors,
  only,
  overwrites,
  roundsIds,
  startWrong,
  takesAnyToken,
} from './wrong-servers.ts'

interface JsonReport {
  readonly rows: readonly {
    readonly title: string
    readonly outcome: string
    readonly failure?: { readonly wrong: string }
  }[]
  readonly left: readonly string[]
}

describe('plantstore verify of a server that', async () => {
  const folder = await makeFolder()
  const server = await startServer(folder.file('plants.db'))

  after(async () => {
    await server[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  const verify = (url: string, ...flags: string[]): Promise<Finished> =>
    runHere(['verify', url, '--token', server.token, '--json', ...flags])

  /** The titles of the rows that fail. */
  const failuresOf = async (behave: Behaviour, ...flags: string[]): Promise<string[]> => {
    await using wrong = await startWrong(server, behave)
    const { status, stdout, stderr } = await verify(wrong.url, ...flags)
    assert.equal(stderr, '')
    const { rows, left } = JSON.parse(stdout) as JsonReport
    const failed = rows.filter(({ outcome }) => outcome === 'failed')
    assert.equal(status, failed.length === 0 ? 0 : 1)
    assert.deepEqual(left, [])
    assert.equal(await plantsLeft(), 0)
    return failed.map(({ title }) => title)
  }

  const plantsLeft = async (): Promise<number> => {
    const headers = { Authorization: `Bearer ${server.token}` }
    const response = await fetch(`${server.url}/summary`, { headers })
    return ((await response.json()) as { plants: number }).plants
  }

  test('does everything right behind another one has no row that fails', async () => {
    assert.deepEqual(await failuresOf((received, forward) => forward(received)), [])
  })

  test('rounds ids', async () => {
    assert.deepEqual(await failuresOf(roundsIds, '--level', 'specified'), [
      'neighbouring ids beyond 2^53 are two plants',
    ])
    assert.deepEqual(await failuresOf(roundsIds), [
      'neighbouring ids beyond 2^53 are two plants',
      'neighbouring ids beyond 2^53 are kept apart, exact to the last digit',
      // A double has the least int64, and the integer before it becomes it.
      'an id before the beginning of int64',
      'a plant is read with every digit of its id, and with a strong ETag',
    ])
  })

  test('overwrites a plant whose id is taken', async () => {
    // What the document itself says of that is not shown.
    assert.deepEqual(await failuresOf(overwrites, '--level', 'specified'), [])
    assert.deepEqual(await failuresOf(overwrites), [
      'an id that is taken is refused, and its plant stays as it is',
      'the key of a refused create is free',
      'a repeated create without a key is refused',
    ])
  })

  test('has failures of another shape than Error', async () => {
    const specified = [
      'a second create of the same id is answered with a Plant or an Error',
      'the refusal of a body that is not JSON is an Error',
      'the refusal of a body without a name is an Error',
      'the refusal of a name that is a number is an Error',
    ]
    assert.deepEqual(await failuresOf(hasOtherErrors, '--level', 'specified'), specified)
    const operations = ['createPlant', 'listPlants', 'getPlant', 'replacePlant', 'deletePlant', 'getSummary']
    assert.deepEqual(
      (await failuresOf(hasOtherErrors)).sort(),
      [
        ...specified,
        ...operations.map((operation) => `${operation}: answers are as the document describes them`),
        'failures on other paths, and of other methods, are Errors',
      ].sort(),
    )
  })

  test('takes any token', async () => {
    assert.deepEqual(await failuresOf(takesAnyToken(server.token), '--level', 'specified'), [])
    const refused = [
      'a token cut short',
      'a token with a character changed',
      'a token in another case',
      'two tokens on one line',
      'a token with a comma',
      'a quoted token',
      'a text that is no token',
      'of 8,000 characters',
      'unknown',
    ]
    const operations = ['listPlants', 'getPlant', 'replacePlant', 'deletePlant', 'getSummary']
    assert.deepEqual(
      (await failuresOf(takesAnyToken(server.token))).sort(),
      [
        ...refused.map((what) => `Authorization ${what}`),
        ...operations.map((operation) => `${operation} needs a token that the server knows`),
      ].sort(),
    )
  })

  test('gives no answer to some requests', async () => {
    const isPreflight: Behaviour = only(
      ({ fields }) => fields.includes('Access-Control-Request-Method'),
      async () => 'nothing',
    )
    assert.deepEqual(await failuresOf(isPreflight, '--timeout', '3'), [
      'a preflight needs no token and says what may be sent',
    ])
  })

  test('resets the connections of some requests', async () => {
    const resets = only(
      ({ method }) => method === 'PROPFIND',
      async () => 'reset',
    )
    assert.deepEqual(await failuresOf(resets), ['PROPFIND /plants', 'PROPFIND /nowhere'])
  })

  test('answers some requests with HTML', async () => {
    const html = only(({ target }) => target.startsWith('/summary'), answersHtml)
    assert.deepEqual(await failuresOf(html), ['getSummary: answers are as the document describes them'])
  })
})
