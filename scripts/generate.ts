// Writes openapi.json, src/contract/types.ts and src/contract/compiled.ts from openapi.yaml, and site/client.js, the
// client of the pages, from src/client. Tests compare the files with their sources, so committed files are never stale.

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
export async function generateTypes(): Promise<string> {
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
  const nodes = await openapiTS(source, {
    alphabetize: true,
    transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
  })
  return `// Generated from openapi.yaml by \`npm run generate\`. Do not edit.\n\n${astToString(nodes)}`
}

/** The modules of src/client, each after its imports. */
const clientFiles = ['error', 'exact-json', 'values', 'link', 'request', 'client'] as const

/** The text of site/client.js: the client as one module for browsers, without types and comments. */
export async function generateClient(): Promise<string> {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true, removeComments: true }
  const modules = await Promise.all(
    clientFiles.map(async (name) => {
      const typed = await readFile(new URL(`../src/client/${name}.ts`, import.meta.url), 'utf8')
      const { outputText } = ts.transpileModule(typed, { compilerOptions })
      // Exports between the modules are not exports of the whole.
      const isWhole = name === clientFiles.at(-1)
      return outputText.replaceAll(/^import .*\n/gm, '').replaceAll(/^export (?!\{)/gm, isWhole ? 'export ' : '')
    }),
  )
  return `// Generated from src/client by \`npm run generate\`. Do not edit.\n\n${modules.join('\n')}`
}

/** JSON.rawJSON exists since Node.js 22, but TypeScript 5.9 does not know it. */
function rawJson(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString())
}

if (import.meta.main) {
  await writeFile(new URL('../openapi.json', import.meta.url), generateJson(await readFile(source, 'utf8')))
  await writeFile(new URL('../src/contract/types.ts', import.meta.url), await generateTypes())
  await writeFile(new URL('../src/contract/compiled.ts', import.meta.url), generateCompiled())
  await writeFile(new URL('../site/client.js', import.meta.url), await generateClient())
}
