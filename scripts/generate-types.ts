// Writes src/contract/types.ts from openapi.yaml. A test compares the two, so the committed file is never stale.

import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const source = new URL('../openapi.yaml', import.meta.url)
const target = new URL('../src/contract/types.ts', import.meta.url)

/** The text of src/contract/types.ts for the document as it is on disk. An int64 is a bigint there, never a number. */
export async function generateTypes(): Promise<string> {
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
  const nodes = await openapiTS(source, {
    alphabetize: true,
    transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
  })
  return `// Generated from openapi.yaml by \`npm run generate\`. Do not edit.\n\n${astToString(nodes)}`
}

if (import.meta.main) {
  const text = await generateTypes()
  if ((await readFile(target, 'utf8').catch(() => '')) !== text) await writeFile(target, text)
}
