// Deliberately wrong servers: each is named by exactly the rows that are about what it does wrong.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { exhaustive } from '../support/ring.ts'
import { startRight } from './right-server.ts'
import {
  answersHtml,
  type Behaviour,
  hasOtherErrors,
  only,
  overwrites,
  replaceField,
  roundsIds,
  takesAnyToken,
} from './wrong-servers.ts'

describe('plantstore verify of a server that', async () => {
  const { token, failuresOf, ...server } = await startRight()

  after(() => server[Symbol.asyncDispose]())

  exhaustive.test('does everything right behind another one has no row that fails', async () => {
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
      // It becomes 2^63.
      'the least and the greatest int64, and ids around 0, are ids in a path',
    ])
  })

  exhaustive.test('overwrites a plant whose id is taken', async () => {
    // What the document itself says of that is not shown.
    assert.deepEqual(await failuresOf(overwrites, '--level', 'specified'), [])
    assert.deepEqual(await failuresOf(overwrites), [
      'an id that is taken is refused, and its plant stays as it is',
      'the key of a refused create is free',
      'a repeated create without a key is refused',
    ])
  })

  exhaustive.test('has failures of another shape than Error', async () => {
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

  exhaustive.test('takes any token', async () => {
    assert.deepEqual(await failuresOf(takesAnyToken(token), '--level', 'specified'), [])
    const refused = [
      'a token cut short',
      'a token with a character changed',
      'a token in another case',
      'two tokens on one line',
      'a token with a comma',
      'a quoted token',
      'a text that is not a token',
      'of 8,000 characters',
      'unknown',
    ]
    const operations = ['listPlants', 'getPlant', 'replacePlant', 'deletePlant', 'getSummary']
    assert.deepEqual(
      (await failuresOf(takesAnyToken(token))).sort(),
      [
        ...refused.map((what) => `Authorization ${what}`),
        ...operations.map((operation) => `${operation} needs a token that the server knows`),
      ].sort(),
    )
  })

  for (const [what, pattern] of [
    ['negative ids', /^\/plants\/-\d+$/],
    ['the id 0', /^\/plants\/0$/],
    ['the least int64', /^\/plants\/-9223372036854775808$/],
    ['the greatest int64', /^\/plants\/9223372036854775807$/],
  ] as const) {
    exhaustive.test(`takes ${what} for none`, async () => {
      const refuses = only(
        ({ target }) => pattern.test(target),
        (received, forward) => forward({ ...received, target: '/plants/x' }),
      )
      assert.deepEqual(await failuresOf(refuses), [
        'the least and the greatest int64, and ids around 0, are ids in a path',
      ])
    })
  }

  const counting = 'the summary counts plants by their tag as they are created and deleted'
  const crowd = Array.from({ length: 100 }, (_, index) => ({ tag: `t${index}`, plants: 200 - index }))
  for (const [what, change, failures] of [
    ['counts no plants', () => ({ plants: 0, tags: [], isExact: true }), [counting]],
    ['counts no tags', (summary) => ({ ...summary, tags: [] }), [counting]],
    ['counts too much', (summary) => ({ ...summary, tags: summary.tags.map(addOne) }), [counting]],
    ['never counts less', neverLess(), [counting]],
    ['lists the most common tags last', (summary) => ({ ...summary, tags: summary.tags.toReversed() }), [counting]],
    ['estimates what it counts does nothing wrong', () => ({ plants: 0, tags: [], isExact: false }), []],
    ['has many tags with many plants does nothing wrong', (summary) => ({ ...summary, tags: crowd.slice() }), []],
  ] as const satisfies readonly (readonly [string, (summary: Summary) => Summary, readonly string[]])[]) {
    exhaustive.test(what, async () => {
      const summarises = only(
        ({ target }) => target === '/summary',
        async (received, forward) => {
          const answered = await forward(received)
          if (answered.status !== 200) return answered
          const summary = JSON.stringify(change(JSON.parse(answered.body.toString())))
          return { ...answered, body: Buffer.from(summary) }
        },
      )
      assert.deepEqual(await failuresOf(summarises), failures)
    })
  }

  exhaustive.test('answers a replace with the ETag of another plant', async () => {
    const misleads = only(
      ({ method }) => method === 'PUT',
      async (received, forward) => {
        const answered = await forward(received)
        if (answered.status !== 200) return answered
        return { ...answered, fields: replaceField(answered.fields, 'etag', `"${'A'.repeat(22)}"`) }
      },
    )
    assert.deepEqual(await failuresOf(misleads), ['replacing a plant answers like createPlant'])
  })

  exhaustive.test('has one request id for all answers', async () => {
    const repeats: Behaviour = async (received, forward) => {
      const answered = await forward(received)
      return { ...answered, fields: replaceField(answered.fields, 'x-request-id', 'abc-1') }
    }
    assert.deepEqual(await failuresOf(repeats), ['every answer has a unique X-Request-Id'])
  })

  exhaustive.test('has a cache in front, which repeats what needs no token, does nothing wrong', async () => {
    const repeats = only(
      ({ target }) => !/^\/(?:plants|summary)/.test(target),
      async (received, forward) => {
        const answered = await forward(received)
        return { ...answered, fields: replaceField(answered.fields, 'x-request-id', 'abc-1') }
      },
    )
    assert.deepEqual(await failuresOf(repeats), [])
  })

  exhaustive.test('lets pages of other origins see no errors', async () => {
    const hides: Behaviour = async (received, forward) => {
      const answered = await forward(received)
      if (answered.status < 400) return answered
      const fields = answered.fields.map((each) => (/^access-control-allow-origin$/i.test(each) ? 'X-Was' : each))
      return { ...answered, fields }
    }
    const seen = ['that a plant is not there', 'that a path is unknown', 'that a method is not allowed']
    assert.deepEqual(
      await failuresOf(hides),
      [...seen, 'that a create is refused', 'that a token is missing'].map(
        (what) => `a page of another origin sees ${what}`,
      ),
    )
  })

  exhaustive.test('gives no answer to some requests', async () => {
    const isPreflight: Behaviour = only(
      ({ fields }) => fields.includes('Access-Control-Request-Method'),
      async () => 'nothing',
    )
    assert.deepEqual(await failuresOf(isPreflight, '--timeout', '3'), [
      'a preflight needs no token and says what may be sent',
    ])
  })

  exhaustive.test('resets the connections of some requests', async () => {
    const resets = only(
      ({ method }) => method === 'PROPFIND',
      async () => 'reset',
    )
    assert.deepEqual(await failuresOf(resets), ['PROPFIND /plants', 'PROPFIND /nowhere'])
  })

  exhaustive.test('answers some requests with HTML', async () => {
    const html = only(({ target }) => target.startsWith('/summary'), answersHtml)
    assert.deepEqual(await failuresOf(html), ['getSummary: answers are as the document describes them'])
  })
})

interface Summary {
  readonly plants: number
  readonly tags: readonly { readonly tag: string; readonly plants: number }[]
  readonly isExact: boolean
}

function addOne({ tag, plants }: Summary['tags'][number]): Summary['tags'][number] {
  return { tag, plants: plants + 1 }
}

function neverLess(): (summary: Summary) => Summary {
  let most: Summary | undefined
  return (summary) => {
    if (most === undefined || summary.plants > most.plants) most = summary
    return most
  }
}
