// `plantstore verify` of servers with a document of their own: what it sends is valid there, and what it reads is compared
// as a whole.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { openDocument } from '../../verify/document.ts'
import { Plants } from '../../verify/plant.ts'
import type { RowName, RowResult } from '../../verify/results.ts'
import { makeSampler } from '../../verify/sampler.ts'
import { Judge, type Schema } from '../../verify/schemas.ts'
import { verify } from '../../verify/verify.ts'
import { makeFolder } from '../support/folder.ts'
import { gardening, oddities, sample, withProperties } from '../support/own-documents.ts'
import { runHere } from '../support/program.ts'
import { inRing, sampleOf } from '../support/ring.ts'
import { makeTokens } from '../support/rows.ts'
import { startService } from '../support/service.ts'
import { assertPrompt } from '../support/time.ts'
import { type AnyPlant, answers, plants, refusal, text } from './operators.ts'
import { type Behaviour, startWrong } from './wrong-servers.ts'

const requiring = (text: string, ...names: readonly string[]): string =>
  text.replace('        - name\n', ['name', ...names].map((name) => `        - ${name}\n`).join(''))

const spot = `        code:
          type: string
          pattern: '^[A-Z]{3}$'
          examples: [none, ABC]
        heightCm:
          type: integer
          minimum: 7
          multipleOf: 5
        spot:
          allOf:
            - $ref: '#/components/schemas/Spot'
            - required: [kind]
`
const spotSchema = `    Spot:
      type: object
      required: [at, notes]
      additionalProperties: false
      properties:
        kind: { enum: [12345678901234567890, 1] }
        at: { type: number, exclusiveMinimum: -0.5, maximum: 0.5 }
        notes: { type: array, minItems: 2, items: { type: string, minLength: 9 } }
        next: { $ref: '#/components/schemas/Spot' }
`
const documents = {
  garden: withProperties(gardening),
  required: requiring(withProperties(gardening), 'location', 'heightCm', 'wateredAt', 'tag'),
  odd: requiring(withProperties(oddities), 'mood', 'serial', 'größe', '__proto__', 'constructor', 'id2'),
  serial: requiring(withProperties(oddities), 'serial'),
  nested: requiring(withProperties(spot), 'code', 'heightCm', 'spot').replace(
    '    Error:\n',
    `${spotSchema}    Error:\n`,
  ),
  short: sample
    .replace('The name of the plant\n', '$&          minLength: 1\n          maxLength: 500\n')
    .replace('to specify the type\n', '$&          maxLength: 250\n'),
  // Doubles beside these bounds are outside of them.
  large: requiring(
    withProperties(`        serial: { type: integer, minimum: 12345678901234567891, maximum: 12345678901234567892 }
        mass: { type: number, maximum: 1e308 }
`),
    'serial',
  ),
  even: sample.replace('format: int64\n', '$&              multipleOf: 2\n'),
  // Unknown properties are not kept, so they do not count.
  three: sample.replace('    Plant:\n', '$&      minProperties: 3\n'),
  untagged: sample.replace(/ {8}tag:\n.*\n {10}type: string\n/, ''),
  closed: sample.replace('    NewPlant:\n', '$&      unevaluatedProperties: false\n'),
  colourful: withProperties('        colour:\n          type: string\n'),
  withoutExample: requiring(
    withProperties("        code:\n          type: string\n          pattern: '^[A-Z]{3}$'\n"),
    'code',
  ),
}

type Name = keyof typeof documents

describe('plantstore verify of a server with a document of its own', async () => {
  const folder = await makeFolder()
  after(() => folder[Symbol.asyncDispose]())
  const fileOf = async (name: Name): Promise<string> => {
    const file = folder.file(`${name}.yaml`)
    await writeFile(file, documents[name])
    return file
  }
  /** The rows of a run: all, or those with some subjects and titles. */
  const run = async (name: Name, meant?: readonly string[], behave?: Behaviour): Promise<readonly RowResult[]> => {
    const document = await fileOf(name)
    await using service = await startService({}, { document })
    await using wrong = await startWrong(service, behave ?? ((received, forward) => forward(received)))
    const url = behave === undefined ? `http://127.0.0.1:${service.port}` : wrong.url
    const tokens = await makeTokens(service.path, service.token)
    const only = ({ subject, title }: RowName): boolean =>
      meant === undefined || meant.includes(subject) || meant.includes(title)
    const ended = new Set<RowResult>()
    const { rows, left } = await verify({ ...tokens, url, document, only, onRow: (row) => ended.add(row) })
    assert.deepEqual(left, [])
    assert.deepEqual(ended, new Set(rows))
    return rows
  }
  const failed = (rows: readonly RowResult[]): readonly (readonly [string, string | undefined])[] =>
    rows.filter(({ outcome }) => outcome === 'failed').map(({ title, failure }) => [title, failure?.wrong])
  const skipped = (rows: readonly RowResult[], title: string): string | undefined =>
    rows.find((row) => row.title === title)?.skipped

  const names = Object.keys(documents) as Name[]
  for (const name of inRing([], sampleOf(names, 5), names)) {
    test(`finds nothing wrong with a right one: ${name}`, async () => {
      const rows = await run(name)
      assert.deepEqual(failed(rows), [])
      const isMost = rows.filter(({ outcome }) => outcome === 'passed').length > 0.75 * rows.length
      assert.equal(isMost, !['three', 'withoutExample'].includes(name))
    })
  }

  test('reads a bound beyond exact integers alike in JSON and YAML', async () => {
    assert.deepEqual(failed(await run('large', ['pages'])), [])
  })

  test('sends valid plants with everything that is required, however deep, and reads them whole', async () => {
    const subjects = ['the document itself', 'further properties', 'changes']
    const more = inRing([], ['bodies', 'random requests', 'answers'])
    const rows = await run('nested', [...subjects, ...more])
    const others = rows.filter(({ outcome }) => outcome !== 'passed')
    assert.deepEqual(others, [])
    assert.equal(rows.filter(({ subject }) => subject === 'further properties').length, 3)
  })

  test('finds a property that is dropped, rounded or kept from an earlier state', async () => {
    const kept = 'the property serial is kept as it is sent'
    const untagged = 'a NewPlant without a tag is answered without a tag'
    const changes: readonly (readonly [change: (plant: AnyPlant) => AnyPlant, wrong: RegExp])[] = [
      [({ serial: _, ...plant }) => plant, /^serial is missing, not 1$/],
      [(plant) => ({ ...plant, serial: 2 }), /^serial is 2, not 1$/],
      [(plant) => ({ mood: 'happy', ...plant }), /^mood is present, but was not sent$/],
    ]
    for (const [change, wrong] of changes) {
      const behave = answers('GET|POST|PUT /plants* 200', plants(change))
      const rows = await run('serial', [kept, untagged], behave)
      const found = new Map(failed(rows))
      assert.match(found.get(kept) ?? '', wrong)
      assert.match(found.get(untagged) ?? '', wrong)
    }
  })

  test('finds nothing wrong with a right one whose integers have more than 40 digits', async () => {
    const [least, most] = [10n ** 45n + 1n, 10n ** 45n + 3n]
    const property = `        atoms: { type: integer, minimum: ${least}, maximum: ${most} }\n`
    const document = folder.file('atoms.yaml')
    await writeFile(document, requiring(withProperties(property), 'atoms'))
    await using service = await startService({})
    const counts: Behaviour = async (received, forward) => {
      const [, digits = '0', zeros = '0'] = /"atoms":(\d+)(?:e\+?(\d+))?/.exec(received.body.toString()) ?? []
      const atoms = BigInt(digits) * 10n ** BigInt(zeros)
      const answered = await forward(received)
      if (answered.status !== 200) return answered
      return least <= atoms && atoms <= most
        ? { ...answered, ...text(/\}$/, `,"atoms":${atoms}}`)(answered) }
        : refusal(40002)
    }
    await using right = await startWrong(service, counts)
    const { rows } = await verify({ url: right.url, token: service.token, document, level: 'specified' })
    assert.deepEqual(failed(rows), [])
    const tagged = rows.find(({ title }) => title === 'a NewPlant with a tag is answered with its Plant')
    assert.equal(tagged?.outcome, 'passed')
  })

  test('has the bounds of the document, and skips what it does not say', async () => {
    const empty = 'an empty name is a name'
    const bounded = [
      'createPlant keeps a name of at most 500 characters',
      'createPlant keeps a tag of at most 250 characters',
      'replacePlant refuses a name of more than 500 characters',
      'createPlant refuses a tag of more than 250 characters',
    ]
    const rows = await run('short', inRing([...bounded, empty], ['names and tags', empty]))
    assert.deepEqual(failed(rows), [])
    const passed = new Set(rows.filter(({ outcome }) => outcome === 'passed').map(({ title }) => title))
    for (const title of bounded) assert.ok(passed.has(title), title)
    const why = 'a plant that it sends is not valid by the document: name: must NOT have fewer than 1 characters'
    assert.equal(skipped(rows, empty), why)
    const untagged = {
      'createPlant keeps a name however it is written': undefined,
      'createPlant keeps a tag of any script': 'the document has no property tag',
      'createPlant refuses a tag that is no string': 'the document accepts what the bundled one does not',
    }
    const others = await run('untagged', inRing(Object.keys(untagged), ['names and tags']))
    assert.deepEqual(failed(others), [])
    for (const [title, reason] of Object.entries(untagged)) assert.equal(skipped(others, title), reason)
    const outside = 'properties outside NewPlant are accepted'
    assert.equal(skipped(await run('colourful', [outside]), outside), 'the document has a property colour')
  })

  test('skips what needs a plant if it can make none', async () => {
    const rows = await run('withoutExample', ['the document itself'])
    assert.deepEqual(failed(rows), [])
    const why = 'a plant that it sends is not valid by the document: code: must match pattern "^[A-Z]{3}$"'
    assert.equal(skipped(rows, 'an empty name is a name'), why)
  })

  test('takes the document of --document, and says what is wrong with it', async () => {
    const document = await fileOf('required')
    await using service = await startService({}, { document })
    const flags = ['--token', service.token, '--level', 'specified', '--json']
    const url = `http://127.0.0.1:${service.port}`
    const own = await runHere(['verify', url, ...flags, '--document', document])
    assert.deepEqual([own.status, JSON.parse(own.stdout).counts.failed], [0, 0])
    const bundled = await runHere(['verify', url, ...flags])
    assert.notEqual(JSON.parse(bundled.stdout).counts.failed, 0)
    const missing = await runHere(['verify', url, ...flags, '--document', folder.file('none.yaml')])
    assert.equal(missing.status, 2)
    assert.match(missing.stderr, /none\.yaml: cannot be read/)
  })
})

describe('the plants of a document', async () => {
  const bundled = openDocument()
  const plants = new Plants(bundled, bundled)

  test('of the bundled one are sent as they are written', () => {
    for (const body of ['{"id":1,"name":"n"}', '{}', 'no json']) assert.equal(plants.fill(body), body)
    assert.deepEqual(plants.complete({ name: 'n' }), { name: 'n', tag: undefined })
    assert.deepEqual(plants.further, [])
  })

  test('are quoted from the bundled one', () => {
    assert.equal(plants.quote('createPlant 409'), 'The id is taken; the existing plant is unchanged. (createPlant 409)')
    for (const place of ['createPlant 499', 'createPlant: no such words', 'schemas/None'])
      assert.throws(() => plants.quote(place), TypeError)
  })
})

const samplerOf = (document: Schema) => makeSampler(document, new Judge(document))

describe('a sample', () => {
  test('of a schema that contains itself everywhere is made in a short time', () => {
    const inner = { $ref: '#/components/schemas/Knot' }
    const Knot = {
      anyOf: [
        { type: 'array', items: inner, minItems: 3 },
        { type: 'object', required: ['a', 'b'], properties: { a: inner, b: inner } },
      ],
    }
    const startedMs = performance.now()
    samplerOf({ components: { schemas: { Knot } } })(inner)
    assertPrompt(startedMs, 5_000)
  })

  const sampleOf = samplerOf({ components: { schemas: { Tree: { properties: { kids: {} }, required: ['kids'] } } } })

  for (const [schema, value] of [
    [{ const: 12 }, 12n],
    [{ type: 'string', enum: ['a', 'b'], not: { const: 'a' } }, 'b'],
    [{ type: 'string', minLength: 5, examples: ['abc', 'abcde'] }, 'abcde'],
    [{ type: 'string', minLength: 9, maxLength: 9 }, 'sampleeee'],
    [{ type: 'string', maxLength: 2 }, 'sa'],
    [{ type: 'string', format: 'date' }, '2026-01-31'],
    [{ type: 'integer', maximum: -5, multipleOf: 4 }, -8n],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ type: ['null', 'integer'], minimum: 3 }, null],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }], minimum: 4, not: { type: 'integer' } }, 'sample'],
    [{ type: 'array', minItems: 2, items: { type: 'boolean' } }, [true, true]],
    [{ type: 'array', maxItems: 0 }, []],
    [
      { allOf: [{ $ref: '#/components/schemas/Tree' }, { required: ['a'] }], properties: { a: { type: 'null' } } },
      { kids: 'sample', a: null },
    ],
  ] as const) {
    test(`of ${JSON.stringify(schema, (_key, each) => (typeof each === 'bigint' ? String(each) : each))}`, () => {
      assert.deepEqual(sampleOf(schema), value)
    })
  }
})
