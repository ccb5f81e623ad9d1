// Checks every answer of a run against its operation in openapi.yaml: status, header fields and body. Deviations become
// one row per operation.

import { errorNumberOf, field, isError } from './checks.ts'
import type { Operation, ResponseDescription } from './document.ts'
import { type Answer, fieldOf, jsonOf, membersOf, type RowRequest } from './message.ts'
import type { Plants } from './plant.ts'
import { type Row, unless } from './row.ts'
import { corsSays, readableByPages, restricted } from './rows/cors.ts'
import type { Failure } from './store.ts'

interface Deviation extends Failure {
  /** How many answers deviated. */
  times: number
}

const deviationsShown = 5

export class Conformance {
  readonly #plants: Plants
  readonly #isCorsRestricted: boolean
  readonly #whyHidden: ReturnType<typeof readableByPages>
  /** By title of the row, then by deviation. */
  readonly #deviations = new Map<string, Map<string, Deviation>>()
  readonly #requestIds = new Set<string>()
  /** The first failure of each row about all answers. */
  readonly #failures = new Map<Row, Failure>()

  constructor(plants: Plants, isCorsRestricted: boolean) {
    this.#plants = plants
    this.#isCorsRestricted = isCorsRestricted
    this.#whyHidden = readableByPages(plants.document)
  }

  /** Checks an answer. */
  observe(request: RowRequest, answer: Answer): void {
    const { method = 'POST', target = '/plants' } = request
    const operation = this.#plants.document.operations.find((each) => isOperation(each, method, target))
    const title = operation === undefined ? elsewhereRow.title : titleOf(operation)
    const deviations = this.#deviations.get(title) ?? new Map<string, Deviation>()
    this.#deviations.set(title, deviations)
    const found =
      operation === undefined
        ? deviationsElsewhere(method, request, answer)
        : this.#deviationsOf(operation.responses.get(answer.status), method, answer)
    for (const why of found) {
      const known = deviations.get(why)
      if (known === undefined) deviations.set(why, { number: 1, request, answer, why, times: 1 })
      else known.times += 1
    }
    const wrongs: readonly (readonly [Row, string | undefined])[] = [
      [sniffingRow, field('X-Content-Type-Options', /^nosniff$/i)(answer)],
      [corsRow, this.#whyHidden(request, answer)],
      // Answers of public operations may come from a cache, including header fields.
      ...(operation?.scopes === undefined
        ? []
        : ([
            [cachingRow, whyCached(answer)],
            [requestIdRow, this.#whyRepeatedId(answer)],
          ] as const)),
    ]
    for (const [row, why] of wrongs) {
      if (why !== undefined && !this.#failures.has(row)) this.#failures.set(row, { number: 1, request, answer, why })
    }
  }

  #whyRepeatedId(answer: Answer): string | undefined {
    const id = fieldOf(answer, 'x-request-id')
    if (id === undefined) return undefined
    const isRepeated = this.#requestIds.has(id)
    this.#requestIds.add(id)
    return isRepeated ? `X-Request-Id is ${id}, as in an earlier answer` : undefined
  }

  /** Returns the rows of `conformanceRows`, each with its failure, if any. */
  rows(): readonly { readonly row: Row; readonly failure: Failure | undefined }[] {
    return conformanceRows(this.#plants.document.operations).map((row) => ({
      row: unless(row === corsRow && this.#isCorsRestricted && restricted, row),
      failure: this.#failures.get(row) ?? summarise([...(this.#deviations.get(row.title)?.values() ?? [])]),
    }))
  }

  #deviationsOf(described: ResponseDescription | undefined, method: string, answer: Answer): readonly string[] {
    if (described === undefined) return [`the status ${answer.status} is not described`]
    const fields = described.headers.map(({ name, isRequired, schema }) => {
      const value = fieldOf(answer, name)
      if (value === undefined) return isRequired ? `there is no ${name}` : undefined
      return this.#plants.judge.whyNot(schema, value, name)
    })
    return [...fields, this.#bodyDeviation(described, method, answer)]
      .filter((why) => why !== undefined)
      .map((why) => `${answer.status}: ${why}`)
  }

  #bodyDeviation({ content }: ResponseDescription, method: string, answer: Answer): string | undefined {
    if (method === 'HEAD') return answer.body.length === 0 ? undefined : 'there is a body after HEAD'
    if (content.size === 0) return answer.body.length === 0 ? undefined : 'there is a body'
    const [type = '', ...parameters] = (fieldOf(answer, 'content-type') ?? '').toLowerCase().split(/\s*;\s*/)
    const other = parameters.find((each) => each.startsWith('charset=') && !/^charset="?utf-8"?$/.test(each))
    if (other !== undefined) return `the Content-Type has ${other}`
    const schema = content.get(type)
    if (schema === undefined) return `the Content-Type is ${type || 'missing'}, not ${[...content.keys()].join(' or ')}`
    if (type !== 'application/json') return undefined
    const value = jsonOf(answer)
    if (value === undefined) return 'the body is not JSON'
    return this.#plants.judge.whyNot(schema, value, 'the body') ?? this.#errorDeviation(answer)
  }

  /** An error number has one meaning. A 5xx may have a number that only the server knows. */
  #errorDeviation(answer: Answer): string | undefined {
    if (answer.status < 400) return undefined
    const number = Number(errorNumberOf(answer))
    const isListed = [...this.#plants.document.errors.values()].includes(number)
    const isOf = Math.floor(number / 100) === answer.status
    return isError(answer) ?? (answer.status >= 500 || (isListed && isOf) ? undefined : `error is ${number}`)
  }
}

/** One row per operation, and some for all answers. */
export function conformanceRows(operations: readonly Pick<Operation, 'id'>[]): readonly Row[] {
  return [...operations.map(operationRow), elsewhereRow, requestIdRow, sniffingRow, cachingRow, corsRow]
}

function ofAnswers(title: string, document: string): Row {
  return { title, level: 'complete', document, ids: [], run: async () => {} }
}

function operationRow(operation: Pick<Operation, 'id'>): Row {
  const document = 'describes every status, header field and body that the operation answers with'
  return ofAnswers(titleOf(operation), `${document} (the responses of ${operation.id})`)
}

function titleOf({ id }: Pick<Operation, 'id'>): string {
  return `${id}: answers are as the document describes them`
}

const elsewhereRow = ofAnswers(
  'failures on other paths, and of other methods, are Errors',
  'every error, on every path, has the same body, an Error (the description of the document)',
)
const requestIdRow = ofAnswers(
  'every answer has a unique X-Request-Id',
  "X-Request-Id identifies the request, also in the server's log (the header RequestId)",
)
const sniffingRow = ofAnswers(
  'every answer tells browsers not to guess its type',
  'every response has X-Content-Type-Options: nosniff (the description of the document)',
)
const cachingRow = ofAnswers(
  'no shared cache keeps an answer that depends on a token',
  'responses that depend on a token have Cache-Control: private, no-cache (the description of the document)',
)
const corsRow = ofAnswers('pages of other origins may read every answer', corsSays)

/** The server may refuse with these before it reads the token. */
const tokenless: ReadonlySet<number> = new Set([400, 408, 413, 417, 429, 431, 501, 503])

function whyCached(answer: Answer): string | undefined {
  if (tokenless.has(answer.status)) return undefined
  const value = fieldOf(answer, 'cache-control') ?? ''
  const directives = membersOf(value.toLowerCase())
  const isRight = directives.includes('private') && directives.includes('no-cache') && !directives.includes('public')
  return isRight ? undefined : `Cache-Control is ${value || 'missing'}, not private, no-cache`
}

/** A row of its own is about pages for browsers. */
function deviationsElsewhere(method: string, { headers = {} }: RowRequest, answer: Answer): readonly string[] {
  const isPage = answer.status === 404 && method === 'GET' && headers['Accept']?.includes('text/html')
  if (answer.status < 400 || method === 'HEAD' || isPage) return []
  const why = isError(answer)
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
  return { number: 1, request, answer, why }
}
