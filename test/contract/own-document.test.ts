// A user's document: what is copied, what is rejected, and how long a hostile one can keep a server busy.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { loadContract, openContract } from '../../src/contract/contract.ts'
import { AppError, OperatorError } from '../../src/domain/errors.ts'
import { decodeJson } from '../../src/json/decode.ts'
import { makeFolder } from '../support/folder.ts'
import { gardening, oddities, sample, withProperties } from '../support/own-documents.ts'
import { inRing } from '../support/ring.ts'
import { assertDuration, assertPrompt } from '../support/time.ts'

/** A document whose POST /plants takes a plant of this schema, in YAML on one line. */
const withPlant = (schema: string, schemas = '{}', version = '3.1.0'): string => `openapi: ${version}
info: { title: t, version: '1' }
paths: { /plants: { post: { requestBody: { content: { application/json: { schema: ${schema} } } } } } }
components: { schemas: ${schemas} }
`
const ref = (name: string): string => `{ $ref: '#/components/schemas/${name}' }`
const before = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 1)
const needed = 'id: { type: integer }, name: { type: string }'
/** Alternatives of alternatives, none of which an object is. */
const anyOf = (width: number, depth: number): string =>
  depth === 0 ? '{ type: integer }' : `{ anyOf: [${Array.from({ length: width }, () => anyOf(width, depth - 1))}] }`
const plantOf = (properties: string): string => `{ type: object, properties: { ${needed}, ${properties} } }`

describe("a user's document", async () => {
  const folder = await makeFolder()
  after(() => folder[Symbol.asyncDispose]())
  let written = 0
  const open = async (text: string) => {
    written += 1
    const file = folder.file(`${written}.yaml`)
    await writeFile(file, text)
    return openContract(file)
  }
  /** What becomes of a plant in JSON: its text, or why there is none. */
  const reader = async (text: string) => {
    const { readPlant } = await open(text)
    return (json: string): string => {
      try {
        return (readPlant(decodeJson(Buffer.from(json), 32)) as { json: string }).json
      } catch (error) {
        if (error instanceof AppError && error.code === 'invalidPlant') return error.message
        throw error
      }
    }
  }

  test('that is the sample leads to the plants of the bundled one', async () => {
    const [own, bundled] = [await open(sample), loadContract()]
    const names = own.properties.map(({ name, isRequired }) => [name, isRequired])
    assert.deepEqual(names, [
      ['id', true],
      ['name', true],
      ['tag', false],
    ])
    const judge = (read: (value: unknown) => unknown, value: unknown): unknown => {
      try {
        return read(value)
      } catch (error) {
        return (error as Error).message
      }
    }
    // Not the unit `binary` of fast-check, which takes seconds of the processor to begin.
    const character = fc.oneof(fc.nat(0xff), fc.nat(0x10ffff)).map((point) => String.fromCodePoint(point))
    const odd = fc.constantFrom('a\0', '\ud83c', 'é'.repeat(1_025))
    const text = fc.oneof(fc.string({ unit: character, maxLength: 300 }), odd)
    const any = fc.oneof(text, fc.bigInt(), fc.double(), fc.constant(null), fc.boolean(), fc.constant([]))
    const value = fc.oneof(fc.record({ id: any, name: any, tag: any, more: any }, { requiredKeys: [] }), any)
    const [ownReader, bundledReader] = [own.readPlant, bundled.readPlant]
    fc.assert(
      fc.property(value, (each) => {
        const [ours, theirs] = [judge(ownReader, each), judge(bundledReader, each)]
        if (typeof ours !== 'string') assert.deepEqual(ours, theirs)
        // Only the first thing that is wrong is found.
        else assert.ok(String(theirs).split('; ').includes(ours), `${ours} is not of ${theirs}`)
      }),
    )
  })

  test('is served with its plants and its info, as JSON and as YAML', async () => {
    const { json, yaml, operations } = await open(withProperties(gardening))
    const document = JSON.parse(json)
    assert.deepEqual(parse(yaml), document)
    assert.equal(document.info.description, 'A sample API that uses a plant store as an example')
    const properties = Object.keys(document.components.schemas.Plant.properties)
    assert.deepEqual(properties, ['name', 'tag', 'location', 'heightCm', 'wateredAt'])
    const ids = operations.map(({ id }) => id)
    const expected = loadContract().operations.map(({ id }) => id)
    assert.deepEqual(ids, expected)
    assert.equal(json.includes('Monstera'), false)
  })

  test('defines a plant, with messages about invalid ones', async () => {
    const read = await reader(withProperties(gardening + oddities))
    const whole =
      '{"id":-9223372036854775808,"name":"n","tag":"","location":"\\"","heightCm":0.5,"wateredAt":"2026-11-25T10:00:00+01:00",' +
      '"mood":"happy","serial":9223372036854775807,"größe":null,"__proto__":true,"constructor":[{"from":"a"}],"id2":12345678901234567890}'
    assert.equal(read(whole), whole)
    const found = read('{"id2":2,"heightCm":3.50,"name":"n","id":1e0,"more":[]}')
    assert.equal(found, '{"id":1,"name":"n","heightCm":3.5,"id2":2}')
    for (const [property, why] of [
      ['"heightCm":0', 'heightCm: must be a number greater than 0, got 0'],
      ['"heightCm":"1"', 'heightCm: must be a number greater than 0, got "1"'],
      ['"heightCm":1e400', 'heightCm: must be a number greater than 0, got a number too large for a double'],
      ['"wateredAt":"today"', 'wateredAt: must match format "date-time", such as 2026-01-31T12:00:00Z, got "today"'],
      ['"mood":"sad"', 'mood: must be "happy" or "thirsty", got "sad"'],
      [
        '"serial":9223372036854775808',
        'serial: must be an integer from -9223372036854775808 to 9223372036854775807, got 9223372036854775808',
      ],
      ['"größe":0', 'größe: must be an integer of at least 1 or null, got 0'],
      ['"__proto__":1', '__proto__: must be a boolean, got 1'],
      ['"constructor":[{"to":"b"}]', 'constructor.0.from: is missing'],
      ['"constructor":[{"from":"\\u0000"}]', 'constructor: must have no NUL character and no unpaired surrogate'],
      ['"constructor":[{"from":"a","\\ud83c":1}]', 'constructor: must have no NUL character and no unpaired surrogate'],
      ['"id2":1.5', 'id2: must be an integer, got 1.5'],
      ['"id2":1e40', 'id2: must be an integer, got a number of more than 40 digits'],
    ]) {
      assert.equal(read(`{"id":1,"name":"n",${property}}`), why)
    }
  })

  test('can bound the properties of the bundled one, and cannot loosen them', async () => {
    const read = await reader(
      withPlant(`{ type: object, properties: {
      id: { type: integer, minimum: 10, maximum: 9223372036854775806 }, name: { type: string, maxLength: 3, pattern: '^[a-z]*$' },
      tag: { type: string, maxLength: 5000 } } }`),
    )
    assert.equal(read('{"id":9,"name":"n"}'), 'id: must be an integer from 10 to 9223372036854775806, got 9')
    const message = /^id: must be an integer from 10 to 9223372036854775806, /
    assert.match(read('{"id":9223372036854775807,"name":"n"}'), message)
    assert.equal(read('{"id":10,"name":"abcd"}'), 'name: must have at most 3 characters, got 4')
    assert.equal(read('{"id":10,"name":"A"}'), 'name: must match pattern "^[a-z]*$", got "A"')
    assert.match(read(`{"id":10,"name":"a","tag":"${'🌿'.repeat(257)}"}`), /^tag: .* at most 256 characters, got 257$/)
    assert.equal(read('{"id":10}'), 'name: is missing')
  })

  test('can have an id with 32 bits', async () => {
    const plant = '{ type: object, properties: { id: { type: integer, format: int32 }, name: { type: string } } }'
    const read = await reader(withPlant(plant))
    assert.match(read('{"id":2147483648,"name":"n"}'), /^id: must be an integer from -2147483648 to 2147483647, got/)
    assert.match(read('{"id":2147483647,"name":"n"}'), /^\{/)
  })

  test('may have keywords that validate without declaring a property', async () => {
    const read = await reader(
      withPlant(`{ type: object, additionalProperties: false, minProperties: 3,
      properties: { ${needed}, a: { type: integer, multipleOf: 3 }, b: { const: 2 }, c: { enum: [1, x, { y: 1 }] } },
      oneOf: [{ required: [a] }, { required: [b], properties: { z: { type: string } } }],
      if: { required: [b] }, then: { required: [c] } }`),
    )
    assert.equal(read('{"id":1,"name":"n","a":6}'), '{"id":1,"name":"n","a":6}')
    assert.equal(read('{"id":1,"name":"n","a":7}'), 'a: must be a multiple of 3, got 7')
    assert.match(read('{"id":1,"name":"n","a":3,"z":"z"}'), /^z: is not allowed/)
    assert.match(read('{"id":1,"name":"n","b":2}'), /^c: is missing/)
    assert.equal(read('{"id":1,"name":"n","b":2,"c":{"y":1}}'), '{"id":1,"name":"n","b":2,"c":{"y":1}}')
    assert.match(read('{"id":1,"name":"n","b":3,"c":2}'), /^b: must be 2, got 3$/)
    assert.match(read('{"id":1,"name":"n"}'), /must match exactly one schema in oneOf/)
  })

  test('validates plants by all of its keywords', async () => {
    for (const [plant, refused, accepted] of [
      [
        'allOf: [{ properties: { x: { type: number, maximum: 10 } } }, { properties: { x: { minimum: 0, maximum: 100 } } }]',
        '"x":50',
        '"x":5',
      ],
      [
        'allOf: [{ properties: { tag: { type: string, pattern: "^[a-z]+$" } } }, { properties: { tag: { pattern: "^..$" } } }]',
        '"tag":"AB"',
        '"tag":"ab"',
      ],
      ['required: [species]', '"tag":"t"', '"species":7'],
      ['properties: { k: { const: a, enum: [a, b] } }', '"k":"b"', '"k":"a"'],
      ['properties: { k: { const: 1, enum: [1, 2] } }', '"k":2', '"k":1'],
      ['properties: { d: { type: [string, integer], format: date } }', '"d":"never"', '"d":7'],
      ['properties: { d: { type: string, nullable: true } }', '"d":null', '"d":""'],
      ['properties: { n: { type: integer, format: int32 } }', '"n":3000000000', '"n":-2147483648'],
      ['properties: { n: { type: integer, format: int32, minimum: -5000000000 } }', '"n":-3000000000', '"n":-5'],
      [
        'properties: { p: { pattern: "^\\\\uD83C\\\\uDF3F[\\\\ud83c\\\\udf3f]\\\\\\\\$" } }',
        '"p":"🌿"',
        '"p":"🌿🌿\\\\"',
      ],
      ['properties: { k: { enum: [] } }', '"k":1', ''],
      ['properties: { n: { format: int64 } }', '"n":9223372036854775808', '"n":"text"'],
      ['properties: { price: { type: number, multipleOf: 0.01 } }', '"price":0.295', '"price":19.99'],
      ['properties: { price: { type: number, multipleOf: 0.1 } }', '"price":0.25', '"price":0.7'],
      [
        'properties: { u: { uniqueItems: true } }',
        '"u":[{"a":1},{"a":1.0}]',
        '"u":[{},[],{"a":"x"},[["a","x"]],1,"1"]',
      ],
      ['properties: { big: { const: 1.0e+41 } }', '"big":1e42', '"big":1e41'],
      [
        'oneOf: [{ properties: { kind: { const: 1 }, height: {} }, required: [height] }, { required: [none] }], properties: { kind: {} }',
        '"kind":1,"height":2',
        '',
      ],
      ['properties: { x: { $ref: "#/components/schemas/Never" } }', '"x":1', ''],
      ['properties: { a: {} }, minProperties: 3', '"undeclared":1', '"a":1'],
    ] as const) {
      const whole = `{ type: object, required: [id, name], allOf: [{ properties: { ${needed} } }, { ${plant} }] }`
      const read = await reader(withPlant(whole, '{ Never: false }'))
      assert.doesNotMatch(read(`{"id":1,"name":"n",${refused}}`), /^\{/, plant)
      if (accepted !== '') assert.match(read(`{"id":1,"name":"n",${accepted}}`), /^\{/, plant)
    }
  })

  test('in YAML has keys as they are spelled, and only values that JSON has', async () => {
    const merged = '<<: { a: { type: string } }, <<: { b: { const: !!binary aGVsbG8= } }'
    const odd = 'null: { type: string }, 0x10: { const: !!timestamp 2026-01-31 }'
    const read = await reader(withPlant(plantOf(`${merged}, ${odd}`)))
    const plant = '{"id":1,"name":"n","a":"a","b":"aGVsbG8=","null":"","0x10":"2026-01-31"}'
    assert.equal(read(plant), plant)
    assert.equal(read('{"id":1,"name":"n","null":1}'), 'null: must be a string, got 1')
  })

  test('of OpenAPI 3.0 has its own dialect, and may refer to itself within a plant', async () => {
    const schemas = `{ Node: { type: object, nullable: true, properties: { kids: { type: array, items: { $ref: '#/components/schemas/Node' } } } } }`
    const bounds = 'minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false'
    const number = `a: { type: number, ${bounds}, nullable: true, example: 1 }`
    const letter = 'c: { type: string, enum: [c], nullable: true }'
    const plant = plantOf(`${number}, b: { $ref: '#/components/schemas/Node', type: string }, ${letter}`)
    const text = withPlant(plant, schemas, '3.0.3')
    const read = await reader(text)
    assert.match(read('{"id":1,"name":"n","a":0}'), /^a: .* number of at most 9 and greater than 0 or null, got 0$/)
    for (const a of ['9', 'null']) assert.equal(read(`{"id":1,"name":"n","a":${a}}`), `{"id":1,"name":"n","a":${a}}`)
    assert.match(read('{"id":1,"name":"n","c":null}'), /^c: must be/)
    assert.match(read('{"id":1,"name":"n","b":{"kids":[{"kids":1}]}}'), /^b\.kids\.0\.kids: must be an array, got 1/)
    const { Node } = JSON.parse((await open(text)).json).components.schemas
    assert.deepEqual(Node.type, ['object', 'null'])
  })

  const ofPlants = [
    ['a plant without an id', '{ type: object, properties: { name: { type: string } } }', /must have the property id$/],
    ['an id of text', '{ properties: { id: { type: string }, name: {} } }', /id: must have the type integer$/],
    ['properties that are none', '{ properties: null }', /: POST \/plants: \/properties must be object$/],
    ['a reference to nothing', ref('Plant'), /\$ref: there is no #\/components\/schemas\/Plant$/],
    ['a reference elsewhere', '{ $ref: "plants.yaml#/Plant" }', /"plants\.yaml#\/Plant" points outside the document;/],
  ] as const
  const ofProperties = [
    ['a tag of another type', 'tag: { type: [string, "null"] }', /tag: must have the type string$/],
    ['a property etag', 'etag: { type: string }', /cannot have a property etag: the client keeps/],
    ['a pattern that is none', 'a: { type: string, pattern: "(" }', /Invalid regular expression: .*\(/],
    ['a pattern that looks ahead', 'a: { type: string, pattern: "^(?=a)" }', /pattern "\^\(\?=a\)": .*RE2/],
    [
      'a type that is none',
      'a: { type: text }',
      /: POST \/plants: \/properties\/a\/type must be .*: array, boolean, int/,
    ],
    ['a reference with line breaks', 'a: { $ref: "#/a\\n\\e[31m" }', /there is no #\/a\\u000a\\u001b\[31m$/],
    ['a key that is a list', '? [a, b] : { type: string }', /a key is a list, an object or an alias, not a text$/],
  ] as const
  const elsewhere = 'openapi: 3.1.0\npaths: { /plants: { post: { requestBody: { $ref: plants.yaml } } } }'
  const noPlants = 'openapi: 3.1.0\npaths: { /pets: { post: {} } }'
  for (const [what, text, why] of [
    ...ofPlants.map(([what, plant, why]) => [what, withPlant(plant), why] as const),
    ...ofProperties.map(([what, properties, why]) => [what, withPlant(plantOf(properties)), why] as const),
    ['not YAML', 'a: [', /: is not valid YAML or JSON: .* column \d+$/],
    ['two documents', 'a: 1\n---\nb: 2', /JSON: Source contains multiple documents at line 2, column 1$/],
    ['a document of another kind', 'swagger: "2.0"', /: is not an OpenAPI document of version 3\.0 or 3\.1$/],
    ['a body elsewhere', elsewhere, /: \$ref: "plants\.yaml" points outside the document; nothing is fetched$/],
    [
      'a referred schema that is none',
      withPlant(ref('A'), '{ A: { properties: [] } }'),
      /: #\/components\/schemas\/A\/properties must be object$/,
    ],
    [
      'a version that is a number',
      withPlant(plantOf('')).replace("version: '1'", 'version: 1.0'),
      /: info: version must be a text; put it in quotes$/,
    ],
    ['a document that merges itself', 'openapi: 3.1.0\na: &a { <<: *a }', /: it is nested too deeply$/],
    ['a document without plants', noPlants, /: has no POST \/plants .*no other resources$/],
    ['a reference round', withPlant(ref('A'), `{ A: ${ref('A')} }`), /refers to itself endlessly$/],
    [
      'an alternative round',
      withPlant(plantOf(`a: ${ref('A')}`), `{ A: { anyOf: [${ref('A')}] } }`),
      /refers to itself endlessly$/,
    ],
    [
      'a laughing document',
      `a: &a [${'x,'.repeat(9)}]\n${[...'bcdefg'].map((at) => `${at}: &${at} [${`*${before(at)},`.repeat(9)}]`).join('\n')}`,
      /: is nested too deeply, or too large$/,
    ],
    ['a document in itself', 'openapi: 3.1.0\npaths: &a [*a]', /: is nested too deeply, or too large$/],
    ['a deep document', '['.repeat(100_000), /: is not valid YAML or JSON: /],
    ['a long document', ' '.repeat(1_000_001), /: cannot be read: it has 1000001 bytes, more than 1000000$/],
  ] as const) {
    test(`that is ${what} is rejected in one line that names the file`, async () => {
      await assert.rejects(open(text), (error) => {
        assert.ok(error instanceof OperatorError, String(error))
        assert.match(error.message, why)
        assert.match(error.message, /^\S+\.yaml: [^\n]+$/)
        return true
      })
    })
  }

  test('is rejected or read quickly, whatever it contains', async () => {
    const named = (name: string, schema: string): string => `${name}: ${schema}`
    const chain = Array.from({ length: 1_500 }, (_, at) => named(`A${at}`, ref(`A${at + 1}`)))
    const both = (name: string): string => `{ allOf: [${ref(name)}, ${ref(name)}] }`
    const twice = Array.from({ length: 60 }, (_, at) => named(`A${at}`, both(`A${at + 1}`)))
    const before = process.cpuUsage()
    const opening = open(withPlant(plantOf(`a: ${ref('A0')}`), `{ ${chain}, A1500: {} }`))
    await assert.rejects(opening, /: its schemas are nested too deeply, or have too many properties$/)
    await open(withPlant(plantOf(`a: ${ref('A0')}`), `{ ${twice}, A60: { type: string } }`))
    const many = (length: number) => Array.from({ length }, (_, at) => `a${at}: { type: string }`).join()
    const found = (await reader(withPlant(plantOf(many(1_000)))))('{"id":1,"name":"n","a999":1}')
    assert.match(found, /^a999: must be a str/)
    const wide = withPlant(plantOf(`a: ${ref('A')}`), `{ A: { properties: { ${many(2_000)} } } }`)
    for (const text of inRing([], [wide, withPlant(plantOf(many(2_000)))])) {
      const judge = (read: (json: string) => string): string => read('{"id":1,"name":"n","a":{"a0":1}}')
      const judged = await reader(text).then(judge, (error) => error.message)
      const line = /^\{|^a\.a0: must be a string|: its schemas are nested too deeply, or have too many properties$/
      assert.match(judged, line)
    }
    await assert.rejects(open(`a: [${'? '.repeat(10_000)}]`), /keys are nested too deeply$/)
    await assert.rejects(open(`a: &a 1\nb: [${'*a,'.repeat(2_000)}]`), /has more than 1000 aliases$/)
    // By the time of the processor, as others may be busy with theirs.
    assertDuration(process.cpuUsage(before).user / 1_000, 2_000)
  })

  test('that is not a file, is empty, or does not exist is rejected', async () => {
    await assert.rejects(openContract(folder.file('none.yaml')), /none\.yaml: cannot be read: it does not exist$/)
    await assert.rejects(openContract('/dev/zero'), /\/dev\/zero: cannot be read: it is not a file$/)
    const cut = folder.file('cut.json')
    await writeFile(cut, '')
    await assert.rejects(openContract(cut), /cut\.json: is not valid YAML or JSON: expected a value at byte 0, but/)
  })

  test('takes linear time even with bad patterns, equal items or a recursive schema', async () => {
    const kid = `{ type: object, properties: { k: { $ref: '#/components/schemas/Node' } } }`
    const schemas = `{ Node: { oneOf: [${kid}, ${kid}] } }`
    const properties = `p: { type: string, pattern: '^(a+)+$' }, u: { type: array, uniqueItems: true }, n: ${ref('Node')}`
    const read = await reader(withPlant(plantOf(properties), schemas))
    const items = Array.from({ length: 12_000 }, (_, at) => at)
    const startedMs = performance.now()
    assert.match(read(`{"id":1,"name":"n","p":"${'a'.repeat(60_000)}b"}`), /^p: must match pattern/)
    assert.match(read(`{"id":1,"name":"n","u":[${items}]}`), /^\{/)
    assert.equal(read(`{"id":1,"name":"n","u":[{"a":1,"b":2},{"b":2,"a":1}]}`), 'u: must have no equal items')
    assert.match(read(`{"id":1,"name":"n","n":${'{"k":'.repeat(29)}{}${'}'.repeat(29)}}`), /too complex to validate$/)
    assert.match(read('{"id":1,"name":"n"}'), /^\{/, 'the next plant')
    // A wrong item of many, a long list of values, alternatives within alternatives, and a pattern with many steps.
    for (const [schema, value] of [
      [
        `{ type: array, items: { enum: [${Array.from({ length: 1_000 }, (_, at) => `v${at}`)}] } }`,
        `[${'0,'.repeat(30_000)}0]`,
      ],
      [`{ contains: { enum: [${items.slice(0, 2_000).map((at) => `t${at}`)}] } }`, `[${'[0],'.repeat(15_000)}0]`],
      [`{ type: array, items: ${anyOf(5, 4)} }`, `[${'{},'.repeat(20_000)}{}]`],
      [`{ type: string, pattern: '(?:[ab]{1,30}){1,30}[cd]' }`, `"${'ab'.repeat(30_000)}"`],
    ] as const) {
      const judge = await reader(withPlant(plantOf(`v: ${schema}`)))
      const beginMs = performance.now()
      assert.match(judge(`{"id":1,"name":"n","v":${value}}`), /^[^{]{1,2000}$/s)
      assertPrompt(beginMs, 1_000)
    }
    assertPrompt(startedMs, 2_000)
  })
})
