// openapi.yaml is valid, contains the sample unchanged, and agrees with the code.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { generateCompiled } from '../../scripts/compiled.ts'
import { generateJson, generateSchemas, generateTypes } from '../../scripts/generate.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { readDocument } from '../../src/contract/document.ts'
import { errorNumbers, statusOf } from '../../src/domain/errors.ts'
import { LargeAnswers } from '../../src/http/large-answers.ts'
import type { Handlers } from '../../src/http/operations.ts'
import { Service } from '../../src/http/service.ts'
import { limits } from '../../src/limits.ts'
import { sample } from '../support/own-documents.ts'

const yaml = await readFile(new URL('../../openapi.yaml', import.meta.url), 'utf8')
const json = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
const document = parse(yaml)

/** What is common to ECMAScript with the flag u and without, Python's re, RE2, Java, .NET and PCRE. */
const common =
  /^(?:\^|\$|\(\?:|\)|\||[*+?]|\{\d+(?:,\d*)?\}|\\[t?*.]|\\x[0-9A-F]{2}|\[\^?(?:\\t|\\x[0-9A-F]{2}|[^\\[\]])+\]|[^\\^$()|*+?{}[\].])*$/

describe('openapi.yaml', () => {
  test('has schemas that are valid by JSON Schema 2020-12, which their compilation does not check', () => {
    const ajv = new Ajv2020()
    const named = valuesOf(document, 'schemas') as object[]
    const schemas = [...(valuesOf(document, 'schema') as object[]), ...named.flatMap((each) => Object.values(each))]
    assert.ok(schemas.length > 40)
    for (const schema of schemas) {
      assert.ok(ajv.validateSchema(schema), `${JSON.stringify(schema)}: ${ajv.errorsText()}`)
    }
    assert.equal(ajv.validateSchema({ minLength: 'one' }), false)
  })

  test("is valid by Redocly's rules", async () => {
    const config = await createConfig(await readFile(new URL('../../redocly.yaml', import.meta.url), 'utf8'))
    const lint = async (source: string): Promise<string[]> => {
      const problems = await lintFromString({ source, absoluteRef: 'openapi.yaml', config })
      return problems.map(({ ruleId }) => ruleId).sort()
    }
    const withFaults = yaml
      .replace(/^ {2}contact:\n.*\n/m, '')
      .replace('operationId: getLivez', 'operationId: get livez')
      .replace('type: string', 'type: strin')
    assert.deepEqual(await lint(yaml), [])
    assert.deepEqual(await lint(withFaults), ['info-contact', 'operation-operationId-url-safe', 'struct'])
  })

  test('contains the sample document', () => {
    const { info, paths, components, ...others } = parse(sample)
    assertHolds(document, { paths, components, openapi: others.openapi, security: others.security }, '')
    assert.deepEqual([document.info.title, document.info.version], [info.title, info.version])
    const { Plant, NewPlant } = document.components.schemas
    assert.deepEqual(Object.keys(Plant.properties).slice(0, 2), ['name', 'tag'])
    assert.equal(Plant.additionalProperties, undefined)
    assert.deepEqual(Object.keys(NewPlant.allOf[1].properties), ['id'])
    const { requestBody, responses } = document.paths['/plants'].post
    for (const { content } of [requestBody, responses['200'], responses['400']]) {
      assert.deepEqual(Object.keys(content), ['application/json'])
    }
  })

  test('has patterns that every regular expression engine accepts', () => {
    const patterns = valuesOf(document, 'pattern') as string[]
    assert.ok(patterns.length > 8)
    for (const pattern of patterns) {
      assert.match(pattern, common)
      assert.ok(new RegExp(pattern) && new RegExp(pattern, 'u'), pattern)
    }
    const ofFew = String.raw`^[^\u0000]*$ ^[\uD800-\uDFFF]$ ^\p{L}$ ^\d$ ^(?=a)$ ^(a)\1$ ^[a-\w]$`
    for (const pattern of ofFew.split(' ')) assert.doesNotMatch(pattern, common)
  })

  test('has patterns of texts that match every character but NUL, with and without the flag u', () => {
    const { Plant } = document.components.schemas
    const { Tag, NamePrefix } = document.components.parameters
    for (const { pattern } of [Plant.properties.name, Plant.properties.tag, Tag.schema, NamePrefix.schema]) {
      for (const regExp of [new RegExp(pattern), new RegExp(pattern, 'u')]) {
        for (const text of ['', 'a\nb\n', '🌿', 'Φοίνιξ', '\ud7ff\ue000\uffff\u{10ffff}']) assert.match(text, regExp)
        for (const text of ['\0', 'a\0', '🌿\0\n']) assert.doesNotMatch(text, regExp)
      }
    }
  })

  test('has patterns of Location and Link that match the path of a public URL, and no other host', () => {
    const [location, link] = [
      document.paths['/plants'].post.responses['200'].headers.Location.schema.pattern,
      document.paths['/plants'].get.responses['200'].headers.Link.schema.pattern,
    ].map((pattern) => new RegExp(pattern))
    for (const path of ['/plants', '/store/plants', '/a/b.c/@d/plants']) {
      assert.match(`${path}/-7`, location as RegExp)
      assert.match(`<${path}?after=7&limit=1>; rel="next"`, link as RegExp)
    }
    for (const path of ['//evil.example/plants', 'http://evil.example/plants', 'plants', '/store']) {
      assert.doesNotMatch(`${path}/-7`, location as RegExp)
      assert.doesNotMatch(`<${path}?after=7&limit=1>; rel="next"`, link as RegExp)
    }
  })

  test('lists each error number of the code once', () => {
    const rows = [...document.components.schemas.Error.description.matchAll(/^\| (\d{5}) \| (\w+) \|/gm)]
    assert.deepEqual(Object.fromEntries(rows.map(([, number, name]) => [name, Number(number)])), errorNumbers)
    assert.equal(new Set(Object.values(errorNumbers)).size, rows.length)
  })

  test('has a response with the status of every error', () => {
    const described = new Set(loadContract().operations.flatMap(({ responses }) => [...responses.keys()]))
    const outside = ['methodNotAllowed']
    for (const code of Object.keys(errorNumbers) as (keyof typeof errorNumbers)[]) {
      assert.equal(described.has(statusOf(code)), !outside.includes(code), code)
    }
  })

  test('has examples that are valid by its own schemas', () => {
    const ajv = new Ajv2020({ strict: false, formats: { int32: true, int64: true } })
    let examples = 0
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      if ('schema' in value && 'examples' in value && !Array.isArray(value.examples)) {
        const validate = ajv.compile({ ...(value.schema as object), components: document.components })
        for (const [name, example] of Object.entries(value.examples as Record<string, { value: unknown }>)) {
          examples += 1
          assert.ok(validate(example.value), `${name}: ${ajv.errorsText(validate.errors)}`)
        }
      }
      for (const item of Object.values(value)) visit(item)
    }
    visit(document)
    assert.ok(examples > 10)
  })

  test('states the limits of the code', () => {
    assert.equal(limits.bodyBytesMax, 65_536)
    assert.match(yaml, /longer than 65,536 bytes/)
    assert.equal(limits.idempotencyKeyMs, 24 * 60 * 60 * 1000)
    assert.match(yaml, /For 24 hours/)
  })

  test('generates the committed JSON, with exact integers', () => {
    assert.equal(generateJson(yaml), json, 'run `npm run generate`')
    assert.deepEqual(JSON.parse(json), document)
    assert.match(json, /\b9223372036854775807\b/)
  })

  for (const [path, generate] of [
    ['src/contract/types.ts', generateTypes],
    ['client/schemas.ts', generateSchemas],
    ['src/contract/compiled.ts', generateCompiled],
  ] as const) {
    test(`generates the committed ${path}`, async () => {
      const committed = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
      assert.equal(await generate(), committed, 'run `npm run generate`')
    })
  }
})

describe('the contract', () => {
  const parts = {
    contract: loadContract(),
    authenticate: () => assert.fail(),
    traits: {},
    limits,
    allowedOrigins: [],
    observe: () => {},
    newRequestId: () => 'a-1',
    largeAnswers: new LargeAnswers(limits),
  }
  const handler = () => assert.fail()
  const complete = Object.fromEntries(parts.contract.operations.map(({ id }) => [id, handler])) as unknown as Handlers

  test('is served only when operations and handlers match one to one', () => {
    const start = (handlers: object) => () => new Service({ ...parts, handlers: handlers as Handlers })
    const { createPlant, ...incomplete } = complete
    assert.doesNotThrow(start(complete))
    assert.throws(start(incomplete), /without a handler \[createPlant\]/)
    assert.throws(start({ ...complete, noOperation: handler }), /without an operation \[noOperation\]/)
  })

  test('refuses a document with a scope that does not exist, or a reference to nothing', () => {
    const eats = JSON.parse(json.replace('"plants:write"', '"plants:eat"'))
    assert.throws(() => readDocument(eats), /the scope plants:eat is unknown/)
    const dangling = JSON.parse(json.replaceAll('schemas/NewPlant', 'schemas/NoPlant'))
    assert.throws(() => readDocument(dangling), /there is no #\/components\/schemas\/NoPlant/)
  })
})

/** Fails unless a document has all that another one has. Texts may be longer, objects have more members, lists not. */
function assertHolds(found: unknown, specified: unknown, place: string): void {
  if (typeof specified !== 'object' || specified === null) {
    const isSame = typeof specified === 'string' ? String(found).startsWith(specified) : found === specified
    assert.ok(isSame, `${place} is ${found}`)
    return
  }
  if (Array.isArray(specified) && specified.length > 0) assert.equal((found as []).length, specified.length, place)
  for (const [name, each] of Object.entries(specified)) {
    assertHolds((found as Record<string, unknown>)?.[name], each, `${place}/${name}`)
  }
}

/** Every value of a key that stands anywhere in a document. */
function valuesOf(value: unknown, key: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...valuesOf(inner, key)])
}
