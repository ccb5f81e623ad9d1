// The contract of a server: its document, with the validators and the plants that follow from it. openapi.yaml is the
// source; the service reads openapi.json, which `npm run generate` makes from it.

import { readFileSync } from 'node:fs'
import { validators } from './compiled.ts'
import { type Description, type OperationId, type Parameter, readDocument } from './document.ts'
import { type ToPlant, toPlants } from './plant.ts'
import { explain, type Validator } from './validate.ts'

export interface Contract extends Description {
  /** The source document. */
  readonly yaml: string
  /** The document as JSON, with exact integers. */
  readonly json: string
  readonly toPlant: ToPlant
  /** @param subject the name of the body in messages. */
  bodyValidator(operation: OperationId, subject: string): Validator
}

const yamlUrl = new URL('../../openapi.yaml', import.meta.url)
const jsonUrl = new URL('../../openapi.json', import.meta.url)

/** Reads the bundled document. */
export function loadContract(): Contract {
  const json = readFileSync(jsonUrl, 'utf8')
  // This rounds large integers, but only examples of int64 have them, and nothing reads examples.
  const description = readDocument(JSON.parse(json))
  return {
    ...description,
    json,
    yaml: readFileSync(yamlUrl, 'utf8'),
    toPlant: toPlants(description.properties.map(({ name }) => name)),
    bodyValidator: (operation, subject) => compiledValidator(`${operation} body`, subject),
  }
}

/** Parameters are those of the bundled document, whatever a plant is. */
export function parameterValidator(operation: OperationId, { place, name }: Parameter): Validator {
  return compiledValidator(`${operation} ${place} ${name}`, name)
}

function compiledValidator(key: string, subject: string): Validator {
  const validate = validators[key]
  if (validate === undefined) throw new Error(`there is no validator of ${key}; run \`npm run generate\``)
  return explain(validate, subject)
}
