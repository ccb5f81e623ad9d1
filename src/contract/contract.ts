// The contract of a server: its document, and the validators and the maker of plants derived from it. openapi.yaml is
// the source; the service reads openapi.json, which `npm run generate` makes from it.

import { readFileSync } from 'node:fs'
import { AppError } from '../domain/errors.ts'
import type { Plant } from '../domain/plant.ts'
import { root } from '../package.ts'
import { validators } from './compiled.ts'
import { readDocument } from './document.ts'
import type { readOwn } from './own-document.ts'
import { type Properties, toPlants } from './plant.ts'
import { explain, type Validator } from './validate.ts'

export interface Contract extends Readonly<ReturnType<typeof readDocument>> {
  /** The source document. */
  readonly yaml: string
  /** The document as JSON, with exact integers. */
  readonly json: string
  /** Turns a decoded value into a plant. Throws AppError `invalidPlant` for an invalid one. */
  readPlant(this: void, value: unknown): Plant
}

export function loadContract(): Contract {
  const json = readFileSync(new URL('openapi.json', root), 'utf8')
  return toContract({
    // This rounds large integers, but only examples of int64 contain them, and nothing reads examples.
    document: JSON.parse(json),
    json,
    yaml: readFileSync(new URL('openapi.yaml', root), 'utf8'),
    plantValidator: compiledValidator('plant', 'the plant'),
  })
}

/** Opens the contract of a user's document, or of the bundled one. Throws OperatorError that says what is rejected. */
export async function openContract(file: string | undefined): Promise<Contract> {
  const bundled = loadContract()
  if (file === undefined) return bundled
  const { readOwn } = await import('./own-document.ts')
  return toContract(readOwn(file, bundled.document))
}

function toContract({ document, json, yaml, plantValidator }: ReturnType<typeof readOwn>): Contract {
  const description = readDocument(document)
  const toPlant = toPlants(description.properties.map(({ name }) => name))
  const readPlant = (value: unknown): Plant => {
    const wrong = plantValidator(value)
    if (wrong !== undefined) throw new AppError('invalidPlant', wrong)
    return toPlant(value as Properties)
  }
  return { ...description, json, yaml, readPlant }
}

/** The document as served: `servers` begins with the URL of this server if it is known. */
export function servedDocument({ json, yaml, document }: Contract, serverUrl: string | undefined) {
  const [first] = document['servers'] as readonly { readonly url: string }[]
  if (serverUrl === undefined || serverUrl === first?.url) return { json, yaml }
  // JSON is also YAML.
  const text = `{ "url": ${JSON.stringify(serverUrl)}, "description": "The server that this document was read from" }`
  return {
    json: json.replace('\n  "servers": [\n', (line) => `${line}    ${text},\n`),
    yaml: yaml.replace('\nservers:\n', (line) => `${line}  - ${text}\n`),
  }
}

/** A validator of the bundled document, which has the parameters of a user's, too. @param key as in compiled.ts. */
export function compiledValidator(key: string, subject: string): Validator {
  const validate = validators[key]
  if (validate === undefined) throw new Error(`there is no validator for ${key}; run \`npm run generate\``)
  return explain(validate, subject)
}
