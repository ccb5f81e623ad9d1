// Checks every answer of a run against its operation in openapi.yaml: status, header fields and body. Deviations become
// one row per operation.

import { errorNumberOf, field, isError, isOfNow } from './checks.ts'
import type { Operation } from './document.ts'
import { type Answer, fieldOf, itemsOf, jsonOf, membersOf, objectOf, type RowRequest } from './message.ts'
import type { Plants } from './plant.ts'
import { type Circumstances, Ended, type Failure, type Row, type Rule, row, type Store, take } from './row.ts'
import { corsPlace, readableByPages, whyRestricted } from './rows/cors.ts'
import type { Schema } from './schemas.ts'

interface Exchange {
  readonly request: RowRequest
  readonly answer: Answer
  /** Upper case. */
  readonly method: string
  /** Undefined outside of the document. */
  readonly operation: Operation | undefined
}

/** A rule for all answers, or for those of an operation: what is wrong with an answer, among undefined. */
type Whys = (exchange: Exchange) => readonly (string | undefined)[]
type AnswerRule = readonly [title: string, rule: string | Rule, whys: Whys, skipped?: string | false]

const deviationsShown = 5

export class Conformance {
  /** They send nothing, and run when all answers are there. */
  readonly rows: readonly Row[]
  readonly #operations: readonly Operation[]
  readonly #rules: readonly AnswerRule[]
  /** The first wrong answer by each rule, and how often each deviation came. */
  readonly #wrong = new Map<Whys, Pick<Failure, 'request' | 'answer'> & { readonly times: Map<string, number> }>()

  constructor(run: Circumstances) {
    this.#operations = run.plants.document.operations
    this.#rules = answerRules(run)
    this.rows = this.#rules.map(([title, rule, whys, skipped]) => {
      const judge = async (store: Store): Promise<void> => {
        store.skipIf(skipped)
        this.#assert(whys)
      }
      return { ...row(title, rule, judge), turn: 'end', ids: take(0) }
    })
  }

  /** Checks an answer. */
  observe(request: RowRequest, answer: Answer): void {
    const { method = 'POST', target = '/plants' } = request
    const operation = this.#operations.find((each) => isOperation(each, method, target))
    for (const [, , whys] of this.#rules) {
      for (const why of whys({ request, answer, method, operation })) {
        if (why === undefined) continue
        const wrong = this.#wrong.get(whys) ?? { request, answer, times: new Map<string, number>() }
        wrong.times.set(why, (wrong.times.get(why) ?? 0) + 1)
        this.#wrong.set(whys, wrong)
      }
    }
  }

  #assert(whys: Whys): void {
    const wrong = this.#wrong.get(whys)
    if (wrong === undefined) return
    const { request, answer, times } = wrong
    const all = [...times].map(([why, count]) => `${why} (${count === 1 ? 'once' : `${count} times`})`)
    const rest = all.length > deviationsShown ? [`and ${all.length - deviationsShown} more`] : []
    const why = [...all.slice(0, deviationsShown), ...rest].join('; ')
    throw new Ended({ failure: { number: 1, request, answer, why } })
  }
}

/** One rule per operation, and some for all answers. */
function answerRules(run: Circumstances): readonly AnswerRule[] {
  const { plants } = run
  const requestIds = new Set<string>()
  // Answers of public operations may come from a cache, including header fields.
  const ofSecured =
    (why: (answer: Answer) => string | undefined): Whys =>
    ({ answer, operation }) =>
      operation?.scopes === undefined ? [] : [why(answer)]
  const isNosniff = field('X-Content-Type-Options', /^nosniff$/i)
  const isReadable = readableByPages(plants.document)
  const whyHidden: Whys = ({ request, answer }) => [isReadable(request, answer)]
  return [
    ...plants.document.operations.map((own): AnswerRule => {
      const document = `describes every status, header field and body (the responses of ${own.id})`
      const whys: Whys = (it) => (it.operation === own ? deviations(plants, own, it) : [])
      return [`${own.id}: answers are as the document describes them`, { document }, whys]
    }),
    [
      'failures on other paths, and of other methods, are Errors',
      'info: Every error on every path',
      ({ operation, method, request, answer }) => {
        // A row of its own is about pages for browsers.
        const isOpened = method === 'GET' && request.headers?.['Accept']?.includes('text/html') === true
        const isFailure = answer.status >= 400 && method !== 'HEAD' && !(isOpened && answer.status === 404)
        return operation === undefined && isFailure ? [isError(answer, plants)] : []
      },
    ],
    [
      'every answer has a unique X-Request-Id',
      'headers/RequestId',
      ofSecured((answer) => {
        const id = fieldOf(answer, 'x-request-id')
        const isRepeated = id !== undefined && requestIds.has(id)
        requestIds.add(id ?? '')
        return isRepeated ? `X-Request-Id is ${id}, as in an earlier answer` : undefined
      }),
    ],
    ['every answer tells browsers not to guess its type', 'info: nosniff', ({ answer }) => [isNosniff(answer)]],
    [
      'every Date is that of now',
      { document: 'Date is when the answer was made (RFC 9110, section 6.6.1)' },
      ofSecured((answer) => {
        const date = fieldOf(answer, 'date')
        return date === undefined || isOfNow(date) ? undefined : 'Date is hours away from now'
      }),
    ],
    [
      'no shared cache keeps an answer that depends on a token',
      'info: Cache-Control',
      ofSecured((answer) => {
        const value = fieldOf(answer, 'cache-control') ?? ''
        const has = (directive: string): boolean => membersOf(value.toLowerCase()).includes(directive)
        const isRight = tokenless.has(answer.status) || (has('private') && has('no-cache') && !has('public'))
        return isRight ? undefined : `Cache-Control is ${value || 'missing'}, not private, no-cache`
      }),
    ],
    ['pages of other origins may read every answer', corsPlace, whyHidden, whyRestricted(run)],
  ]
}

/** The server may refuse with these before it reads the token. */
const tokenless: ReadonlySet<number> = new Set([400, 408, 413, 417, 429, 431, 501, 503])

/** How an answer to a request for an operation differs from what the document describes. */
export function deviations(
  plants: Plants,
  operation: Operation,
  { answer, method, request }: Pick<Exchange, 'answer' | 'method' | 'request'>,
): readonly string[] {
  const described = operation.responses.get(answer.status)
  if (described === undefined) return [`the status ${answer.status} is not described`]
  const fields = described.headers.map(({ name, isRequired, schema }) => {
    const value = fieldOf(answer, name)
    if (value === undefined) return isRequired ? `there is no ${name}` : undefined
    return plants.judge.whyNot(schema, value, name)
  })
  // A page has as many items as its limit at most.
  const limit = operation.parameters.find(({ name }) => name === 'limit')?.schema
  const query = new URLSearchParams(request.target?.split('?')[1])
  const [most, { length }] = [Number(query.get('limit') ?? limit?.['default']), itemsOf(answer)]
  const isTooMany = limit !== undefined && length > Math.max(most, 0)
  const all = [
    ...fields,
    whyOtherBody(plants, described.content, answer, method),
    isTooMany ? `there are ${length} in a page of at most ${most}` : undefined,
  ]
  return all.filter((why) => why !== undefined).map((why) => `${answer.status}: ${why}`)
}

function whyOtherBody(
  plants: Plants,
  content: ReadonlyMap<string, Schema>,
  answer: Answer,
  method: string,
): string | undefined {
  if (method === 'HEAD' || content.size === 0) return answer.body.length === 0 ? undefined : 'there is a body'
  const [type = '', ...parameters] = (fieldOf(answer, 'content-type') ?? '').toLowerCase().split(/\s*;\s*/)
  const other = parameters.find((each) => each.startsWith('charset=') && !/^charset="?utf-8"?$/.test(each))
  if (other !== undefined) return `the Content-Type has ${other}`
  const schema = content.get(type)
  if (schema === undefined) return `the Content-Type is ${type || 'missing'}, not ${[...content.keys()].join(' or ')}`
  if (type !== 'application/json') return undefined
  const value = jsonOf(answer)
  if (value === undefined) return 'the body is not JSON'
  const why = plants.judge.whyNot(schema, value, 'the body')
  if (why !== undefined || answer.status < 400) return why
  // An error number has one meaning. A 5xx may have a number that only the server knows.
  const number = Number(errorNumberOf(answer))
  const isListed = [...plants.document.errors.values()].includes(number)
  const isOf = Math.floor(number / 100) === answer.status
  if (objectOf(answer)['message'] === '') return 'the message is empty'
  return isError(answer, plants) ?? (answer.status >= 500 || (isListed && isOf) ? undefined : `error is ${number}`)
}

/** HEAD is treated as GET. */
export function isOperation({ method, pattern }: Operation, wanted: string, target: string): boolean {
  if (method !== wanted && !(method === 'GET' && wanted === 'HEAD')) return false
  return pattern.test(target.split('?', 1)[0] ?? '')
}
