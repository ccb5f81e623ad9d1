import { writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
const types = await openapiTS(new URL('openapi.json', import.meta.url), {
  transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
})
await writeFile('exact.d.ts', astToString(types))
