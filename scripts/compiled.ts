// Writes src/contract/compiled.ts, the validators of the document's schemas as code. A server then loads no Ajv at its
// start.

import { readFileSync } from 'node:fs'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { createAjv, forAjv } from '../src/contract/compile.ts'
import { readDocument } from '../src/contract/document.ts'
import type { Schema } from '../src/contract/schemas.ts'

const head = `// Generated from openapi.yaml by \`npm run generate\`. Do not edit.
// @ts-nocheck

import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'
import { canonical, isExact, isWellFormed } from './exact.ts'

const require = createRequire(import.meta.url)

`

/** The text of src/contract/compiled.ts for the openapi.json on disk. */
export function generateCompiled(): string {
  const json = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')
  const { document, operations } = readDocument(JSON.parse(json))
  const named = [
    ['plant', operations.find(({ id }) => id === 'createPlant')?.body ?? {}] as const,
    ...operations.flatMap(({ id, parameters }) =>
      parameters.map(({ place, name, schema }) => [`${id} ${place} ${name}`, schema] as const),
    ),
  ]
  const ajv = createAjv(document, { code: { source: true, esm: true, lines: true } })
  const { entries, schemas } = share(named)
  for (const [key, schema] of schemas) ajv.addSchema(forAjv(schema) as Schema, key)
  const code = standaloneCode.default(ajv, Object.fromEntries(schemas.map(([key]) => [key, key])))
  return `${head}${code.replace('"use strict";\n', '').replaceAll(/^export const/gm, 'const')}
/** Keys are \`plant\`, or an operation with the place and the name of a parameter. */
export const validators: Readonly<Record<string, ValidateFunction>> = {
${entries}}
`
}

type Named = readonly (readonly [name: string, schema: Schema])[]

/** Gives each different schema a key; returns the schemas and the entries of an object from names to keys. */
function share(named: Named): { readonly entries: string; readonly schemas: Named } {
  const texts = [...new Set(named.map(([, schema]) => JSON.stringify(schema)))]
  const keyOf = (text: string): string => `validator${texts.indexOf(text)}`
  return {
    entries: named.map(([name, schema]) => `  '${name}': ${keyOf(JSON.stringify(schema))},\n`).join(''),
    schemas: texts.map((text) => [keyOf(text), JSON.parse(text)]),
  }
}
