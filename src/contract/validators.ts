// The validators of requests, compiled by `npm run generate`.

import { validators } from './compiled.ts'
import type { OperationId, Parameter } from './document.ts'
import { explain, type Validator } from './validate.ts'

/** @param subject the name of the body in messages. */
export function bodyValidator(operation: OperationId, subject: string): Validator {
  return find(`${operation} body`, subject)
}

export function parameterValidator(operation: OperationId, { place, name }: Parameter): Validator {
  return find(`${operation} ${place} ${name}`, name)
}

function find(key: string, subject: string): Validator {
  const validate = validators[key]
  if (validate === undefined) throw new Error(`there is no validator of ${key}; run \`npm run generate\``)
  return explain(validate, subject)
}
