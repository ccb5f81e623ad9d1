// The corpus, through the decoder and the validator, through a running service, and beside JSON.parse.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyValidator } from '../../src/contract/validators.ts'
import { AppError } from '../../src/domain/errors.ts'
import { decodeJson, type JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import type { Connection } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'
import type { Case, Difference } from './corpus/case.ts'
import { corpus } from './corpus.ts'
import { judge } from './reference.ts'

const validate = bodyValidator('createPlant', 'the body')

test('the corpus has at least 300 cases, no name twice and no body twice', () => {
  assert.ok(corpus.length >= 300, `${corpus.length}`)
  assert.deepEqual(findTwice(corpus.map(({ name }) => name)), [])
  assert.deepEqual(findTwice(corpus.map(({ bytes }) => bytes.toString('latin1'))), [])
})

describe('the decoder, by the corpus', () => {
  for (const each of corpus) test(each.name, () => checkDecoder(each))
})

test('JSON.parse has every case as the corpus does, but for those that name their difference', () => {
  for (const each of corpus) assert.equal(differenceToParse(each), each.differs, each.name)
})

test('the reference that the torture has judges every case as the corpus does', () => {
  for (const { name, bytes, outcome } of corpus) {
    const { answer, value, at = [] } = judge(bytes, limits)
    assert.equal(answer, outcome.answer, name)
    if (outcome.answer !== 40001) assert.deepEqual(value, outcome.value, name)
    else if (at.length > 0) assert.ok(at.includes(outcome.at), `${name}: ${at}, not ${outcome.at}`)
  }
})

describe('the service, by the corpus', () => {
  let service: Service
  let connection: Connection

  before(async () => {
    service = await startService({})
    connection = await service.client.open()
  })

  after(async () => {
    await connection[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  for (const each of corpus) {
    test(each.name, async () => {
      const { status, headers, body } = await connection.request({ body: each.bytes })
      if (each.outcome.answer !== 200) {
        assert.equal(status, 400, body)
        const { error, message } = JSON.parse(body)
        assert.equal(error, each.outcome.answer, body)
        assert.equal(message, each.bytes.length === 0 ? 'the body is empty' : refusalOf(each.bytes)?.message)
        return
      }
      const { id, ...plant } = each.outcome.plant
      assert.equal(status, 200, body)
      assert.deepEqual(JSON.parse(body), plant)
      const target = `/plants/${id}`
      assert.equal(headers.get('location'), target)
      // It is found under that id, and the next case may have it.
      assert.equal((await connection.request({ method: 'DELETE', target })).status, 204)
    })
  }
})

function checkDecoder({ bytes, outcome }: Case): void {
  const refusal = refusalOf(bytes)
  if (outcome.answer === 200) {
    assert.equal(refusal, undefined)
    const value = decodeJson(bytes, limits.jsonDepthMax)
    assert.deepEqual(value, outcome.value)
    const { id, name, tag } = value as { id?: JsonValue; name?: JsonValue; tag?: JsonValue }
    assert.deepEqual({ id, name, ...(tag !== undefined && { tag }) }, outcome.plant)
    return
  }
  assert.ok(refusal, 'it is taken for a plant')
  if (outcome.answer === 40002) {
    assert.equal(refusal.code, 'invalidPlant', refusal.message)
    assert.deepEqual(decodeJson(bytes, limits.jsonDepthMax), outcome.value)
  } else {
    assert.equal(refusal.code, 'invalidJson', refusal.message)
    assert.equal(/ at byte (\d+)(?:$|, )/.exec(refusal.message)?.[1], String(outcome.at), refusal.message)
    if (outcome.message !== undefined) assert.match(refusal.message, outcome.message)
  }
}

/** Why a body is no plant, or nothing when it is one. */
function refusalOf(bytes: Buffer): AppError | undefined {
  try {
    const wrong = validate(decodeJson(bytes, limits.jsonDepthMax))
    return wrong === undefined ? undefined : new AppError('invalidPlant', wrong)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** In what JSON.parse is not as a case has it. */
function differenceToParse({ bytes, outcome }: Case): Difference | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(bytes.toString('utf8'))
  } catch {
    assert.equal(outcome.answer, 40001, 'JSON.parse refuses it')
    return undefined
  }
  if (outcome.answer !== 40001) return differenceOf(parsed, outcome.value)
  const message = refusalOf(bytes)?.message ?? ''
  if (message.startsWith('not valid UTF-8')) return 'not UTF-8'
  if (message.includes('appears twice in one object')) return 'repeated key'
  if (message.includes('nested more than')) return 'nesting'
  assert.fail(`JSON.parse takes it: ${message}`)
}

function differenceOf(parsed: unknown, value: JsonValue): Difference | undefined {
  if (typeof value === 'bigint') {
    if (!Number.isSafeInteger(parsed)) return 'exact integer'
    if (Object.is(parsed, -0)) return 'no negative zero'
    assert.equal(BigInt(parsed as number), value)
    return undefined
  }
  if (typeof value !== 'object' || value === null) {
    assert.ok(Object.is(parsed, value), `${parsed} is not ${value}`)
    return undefined
  }
  assert.deepEqual(Reflect.ownKeys(parsed as object), Reflect.ownKeys(value))
  const items = parsed as Record<string, unknown>
  return Object.entries(value).reduce<Difference | undefined>(
    (found, [key, item]) => found ?? differenceOf(items[key], item),
    undefined,
  )
}

function findTwice(texts: readonly string[]): string[] {
  return texts.filter((text, index) => texts.indexOf(text) !== index)
}
