// Writes openapi.json, src/contract/types.ts, src/contract/compiled.ts and client/schemas.ts from openapi.yaml. Tests
// compare them with their source, so committed files are never stale.

import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { parse } from 'yaml'
import { generateCompiled } from './compiled.ts'

const source = new URL('../openapi.yaml', import.meta.url)

/** The text of openapi.json for a document in YAML. Large integers stay exact. */
export function generateJson(yaml: string): string {
  const document = parse(yaml, { intAsBigInt: true })
  return `${JSON.stringify(document, (_key, value) => (typeof value === 'bigint' ? rawJson(value) : value), 2)}\n`
}

/** The text of src/contract/types.ts for the document on disk. An int64 is always a bigint. */
export function generateTypes(): Promise<string> {
  return typesOf(source)
}

/** The text of client/schemas.ts: the types of all schemas but Error, which a client reads as a PlantStoreError. */
export async function generateSchemas(): Promise<string> {
  const { openapi, info, components } = parse(await readFile(source, 'utf8'))
  const { Error: _, ...schemas } = components.schemas
  return typesOf({ openapi, info, paths: {}, components: { schemas } })
}

async function typesOf(document: Parameters<typeof openapiTS>[0]): Promise<string> {
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
  const nodes = await openapiTS(document, {
    alphabetize: true,
    transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
  })
  return `// Generated from openapi.yaml by \`npm run generate\`. Do not edit.\n\n${astToString(nodes)}`
}

/** JSON.rawJSON exists since Node.js 22, but TypeScript 5.9 does not know it. */
function rawJson(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString())
}

if (import.meta.main) {
  await writeFile(new URL('../openapi.json', import.meta.url), generateJson(await readFile(source, 'utf8')))
  await writeFile(new URL('../src/contract/types.ts', import.meta.url), await generateTypes())
  await writeFile(new URL('../src/contract/compiled.ts', import.meta.url), generateCompiled())
  await writeFile(new URL('../client/schemas.ts', import.meta.url), await generateSchemas())
}
