// Writes src/contract/compiled.ts, the validators and serialisers of the document's schemas as code. A server then
// loads neither Ajv nor the compiler of fast-json-stringify at its start.

import { readFileSync } from 'node:fs'
import standaloneCode from 'ajv/dist/standalone/index.js'
import fastJson from 'fast-json-stringify'
import { createAjv, forAjv } from '../src/contract/compile.ts'
import { readContract, type Schema } from '../src/contract/document.ts'

const head = `// Generated from openapi.yaml by \`npm run generate\`. Do not edit.
// @ts-nocheck

import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'
import type { OperationId } from './document.ts'

type Serialiser = (body: unknown) => string

const require = createRequire(import.meta.url)
`

/** The text of src/contract/compiled.ts for the openapi.json on disk. */
export function generateCompiled(): string {
  const { operations, errorSchema } = readContract(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))
  const taken = operations.flatMap(({ id, body, parameters }): [string, Schema][] => [
    ...(body === undefined ? [] : [[`${id} body`, body] as [string, Schema]]),
    ...parameters.map(({ place, name, schema }): [string, Schema] => [`${id} ${place} ${name}`, schema]),
  ])
  const given = operations.flatMap(({ id, responses }): [string, Schema][] => {
    const schema = responses.get(200)?.content.get('application/json')
    return schema === undefined ? [] : [[id, schema]]
  })
  return `${head}
${writeValidators(taken)}
${writeSerialisers([...given, ['Error', errorSchema]])}`
}

type Named = readonly (readonly [name: string, schema: Schema])[]

function writeValidators(named: Named): string {
  const ajv = createAjv(undefined, { source: true, esm: true, lines: true })
  const { entries, schemas } = share(named, 'validator')
  for (const [key, schema] of schemas) ajv.addSchema(forAjv(schema), key)
  const code = standaloneCode.default(ajv, Object.fromEntries(schemas.map(([key]) => [key, key])))
  return `${code.replace('"use strict";\n', '').replaceAll(/^export const/gm, 'const')}
/** Keys are the operation with \`body\`, or with the place and the name of a parameter. */
export const validators: Readonly<Record<string, ValidateFunction>> = {
${entries}}
`
}

function writeSerialisers(named: Named): string {
  const { entries, schemas } = share(named, 'serialiser')
  const code = schemas.map(([key, schema]) => {
    const text = String(fastJson(schema as unknown as Parameters<typeof fastJson>[0], { mode: 'standalone' } as object))
    const body = text.replace(/'use strict'\n/, '').replace('module.exports =', 'return')
    return `const ${key} = (() => {\n${body}\n})()\n`
  })
  return `${code.join('')}
/** For the JSON of a 200, by operation, and for \`Error\`. Properties outside of the schema are never sent. */
export const serialisers: Readonly<Partial<Record<OperationId, Serialiser>> & Record<'Error', Serialiser>> = {
${entries}}
`
}

/** Gives each different schema a key; returns the schemas and the entries of an object from names to keys. */
function share(named: Named, prefix: string): { readonly entries: string; readonly schemas: Named } {
  const texts = [...new Set(named.map(([, schema]) => JSON.stringify(schema)))]
  const keyOf = (text: string): string => `${prefix}${texts.indexOf(text)}`
  return {
    entries: named.map(([name, schema]) => `  '${name}': ${keyOf(JSON.stringify(schema))},\n`).join(''),
    schemas: texts.map((text) => [keyOf(text), JSON.parse(text)]),
  }
}
