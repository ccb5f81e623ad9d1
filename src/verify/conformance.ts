// Checks every answer of a run against its operation in openapi.yaml: status, header fields and body. Deviations become
// one row per operation.

import { compileAnswerValidator } from '../contract/compile.ts'
import type { Contract, Operation, ResponseDescription, Schema } from '../contract/document.ts'
import type { Validator } from '../contract/validate.ts'
import { isError } from './checks.ts'
import { type Answer, fieldOf, jsonOf, type RowRequest } from './message.ts'
import type { Row } from './row.ts'
import type { Failure } from './run-row.ts'

interface Deviation extends Failure {
  /** How many answers deviated. */
  times: number
}

const deviationsShown = 5
/** Title for answers outside the document's operations. */
const elsewhere = 'other paths and methods'

export class Conformance {
  readonly #operations: readonly Operation[]
  readonly #validators = new Map<Schema, Validator>()
  /** By operationId, then by deviation. */
  readonly #deviations = new Map<string, Map<string, Deviation>>()
  readonly #requestIds = new Set<string>()
  #repeatedId: Failure | undefined

  constructor({ operations }: Pick<Contract, 'operations'>) {
    this.#operations = operations
  }

  /** Checks an answer. */
  observe(request: RowRequest, answer: Answer): void {
    const { method = 'POST', target = '/plants' } = request
    const operation = this.#operations.find((each) => isOperation(each, method, target))
    const name = operation?.id ?? elsewhere
    const deviations = this.#deviations.get(name) ?? new Map<string, Deviation>()
    this.#deviations.set(name, deviations)
    const found =
      operation === undefined
        ? deviationsElsewhere(method, answer)
        : this.#deviationsOf(operation.responses.get(answer.status), method, answer)
    for (const why of found) {
      const known = deviations.get(why)
      if (known === undefined) deviations.set(why, { step: 0, request, answer, why, times: 1 })
      else known.times += 1
    }
    // Answers of public operations may come from a cache, including header fields.
    if (operation?.scopes !== undefined) this.#observeId(request, answer)
  }

  #observeId(request: RowRequest, answer: Answer): void {
    const id = fieldOf(answer, 'x-request-id')
    if (id === undefined) return
    if (this.#requestIds.has(id)) {
      this.#repeatedId ??= { step: 0, request, answer, why: `X-Request-Id is ${id}, as in an earlier answer` }
    }
    this.#requestIds.add(id)
  }

  /** Returns one row per operation that answered, and one for all answers, each with its failure, if any. */
  rows(): readonly { readonly row: Row; readonly failure: Failure | undefined }[] {
    const operations = [...this.#deviations].map(([name, deviations]) => ({
      row: name === elsewhere ? elsewhereRow : operationRow(name),
      failure: summarise([...deviations.values()]),
    }))
    return [...operations, { row: requestIdRow, failure: this.#repeatedId }]
  }

  #deviationsOf(described: ResponseDescription | undefined, method: string, answer: Answer): readonly string[] {
    if (described === undefined) return [`the status ${answer.status} is not described`]
    const fields = [...described.headers].map(([name, { required, schema }]) => {
      const value = fieldOf(answer, name)
      if (value === undefined) return required ? `there is no ${name}` : undefined
      return this.#validator(schema, name)(value)
    })
    return [...fields, this.#bodyDeviation(described, method, answer)]
      .filter((why) => why !== undefined)
      .map((why) => `${answer.status}: ${why}`)
  }

  #bodyDeviation({ content }: ResponseDescription, method: string, answer: Answer): string | undefined {
    if (method === 'HEAD') return answer.body.length === 0 ? undefined : 'there is a body after HEAD'
    if (content.size === 0) return answer.body.length === 0 ? undefined : 'there is a body'
    const type = (fieldOf(answer, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
    const schema = content.get(type)
    if (schema === undefined) return `the Content-Type is ${type || 'missing'}, not ${[...content.keys()].join(' or ')}`
    if (type !== 'application/json') return undefined
    const value = jsonOf(answer)
    return value === undefined ? 'the body is not JSON' : this.#validator(schema, 'the body')(value)
  }

  #validator(schema: Schema, subject: string): Validator {
    const known = this.#validators.get(schema) ?? compileAnswerValidator(schema, subject)
    this.#validators.set(schema, known)
    return known
  }
}

function operationRow(operation: string): Row {
  return {
    title: `${operation}: answers are as the document describes them`,
    level: 'complete',
    document: 'describes every status, header field and body that the operation answers with',
    where: `the responses of ${operation}`,
    steps: [],
    ids: [],
  }
}

const elsewhereRow: Row = {
  ...operationRow(elsewhere),
  title: 'failures on other paths, and of other methods, are Errors',
  document: 'every error, on every path, has the same body, an Error',
  where: 'the description of the document',
}

const requestIdRow: Row = {
  ...operationRow(elsewhere),
  title: 'every answer has a unique X-Request-Id',
  document: "X-Request-Id identifies the request, also in the server's log",
  where: 'the header RequestId',
}

function deviationsElsewhere(method: string, answer: Answer): readonly string[] {
  if (answer.status < 400 || method === 'HEAD') return []
  const why = isError(answer, [])
  return why === undefined ? [] : [`${answer.status}: ${why}`]
}

/** HEAD is treated as GET. */
function isOperation({ method, path }: Operation, wanted: string, target: string): boolean {
  if (method !== wanted && !(method === 'GET' && wanted === 'HEAD')) return false
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(target.split('?', 1)[0] ?? '')
}

function summarise(deviations: readonly Deviation[]): Failure | undefined {
  const [first] = deviations
  if (first === undefined) return undefined
  const shown = deviations
    .slice(0, deviationsShown)
    .map(({ why, times }) => `${why} (${times === 1 ? 'once' : `${times} times`})`)
  const rest = deviations.length - shown.length
  const { request, answer } = first
  const why = [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ')
  return { step: 0, request, answer, why }
}
