// A row: one rule of the document, and requests that show whether a server keeps it. It sees a plant store: requests,
// and what their answers must be. The first wrong answer ends the row.

import { type Check, isCreated, isPlant, ok, refusal, status, whyNotListed } from './checks.ts'
import type { IdRange } from './ids.ts'
import { toJson } from './json.ts'
import { type Answer, type Credentials, fieldOf, itemsOf, type RowRequest } from './message.ts'
import { type NewPlant, type Plant, type Plants, plantJson } from './plant.ts'
import { type Level, NoAnswer, type RowName } from './results.ts'

/** A rule, and how a row tests it. */
export interface Rule {
  /** Where the document has it, as `quote` takes it. */
  readonly place?: string
  /** What a document says that is not the bundled one. */
  readonly document?: string
  /** By default `complete`. */
  readonly level?: Level
  /** The ids of the range that the row takes; by default those that its procedure names, which doubles tell apart. */
  readonly ids?: (range: IdRange) => readonly bigint[]
  /** Ids outside the range that a faulty server may derive from the requests. */
  readonly strays?: readonly bigint[]
  /** Proxies often answer such a request themselves, which proves nothing about the server behind them. */
  readonly isForProxies?: boolean
  /**
   * Runs before all others, which depend on what it shows, after them, as it counts what they create, or at the end, to
   * judge their answers.
   */
  readonly turn?: 'first' | 'last' | 'end' | undefined
}

export interface Row extends Rule {
  /** Unique among all rows. */
  readonly title: string
  /** Sends requests, and ends at the first wrong answer. */
  readonly run: (store: Store, ...ids: readonly bigint[]) => Promise<unknown>
}

/** A row of a run. */
export interface PlacedRow extends RowName, Omit<Row, 'ids'> {
  readonly document: string
  readonly level: Level
  /** Ids of the range that the requests contain, in any form. */
  readonly ids: readonly bigint[]
}

/** What rows know of a run. */
export interface Circumstances {
  /** The plants of the server's document. */
  readonly plants: Plants
  readonly ids: IdRange
  /** A text unique to this run, for tags and keys. */
  readonly nonce: string
  readonly credentials: Credentials
  /** Whether the server appears to allow no other origins. */
  readonly isCorsRestricted: boolean
}

/** @param rule or its place. */
export function row(title: string, rule: string | Rule, run: Row['run']): Row {
  return { ...(typeof rule === 'string' ? { place: rule } : rule), title, run }
}

/** Ids that doubles tell apart. */
export function take(count: number): NonNullable<Rule['ids']> {
  return (range) => range.take(count)
}

/** Neighbours, which doubles do not tell apart. */
export function near(count: number): NonNullable<Rule['ids']> {
  return (range) => range.near(count)
}

export type Ask = (request: RowRequest) => Promise<Answer | NoAnswer>
export type Headers = NonNullable<RowRequest['headers']>

/** A wrong answer, or none. */
export interface Failure {
  /** Which of the row's requests it was, from 1. */
  readonly number: number
  readonly request: RowRequest
  /** Missing if none came; for a server that was busy for too long, its last answer. */
  readonly answer?: Answer | undefined
  /** What is wrong with the answer, or why there is none. */
  readonly why: string
}

/** Neither if the row passes. */
export interface Outcome {
  readonly failure?: Failure | undefined
  /** Why it says nothing about the server. */
  readonly skipped?: string | undefined
}

/** Ends a row early. */
export class Ended extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.skipped ?? outcome.failure?.why)
    this.outcome = outcome
  }
}

/** Runs a row over any transport. */
export async function runRow(row: PlacedRow, ask: Ask, run: Circumstances): Promise<Outcome> {
  try {
    await row.run(new Store(ask, run), ...row.ids)
    return {}
  } catch (error) {
    if (error instanceof Ended) return error.outcome
    throw error
  }
}

export const clientsAtOnce = 8
/** Default page size. */
export const pagePlants = 100
const pagesMax = 1_000
const createsAtOnce = 25

export class Store {
  /** The plants of the server's document. */
  readonly plants: Plants
  /** A text unique to this run, for tags and keys. */
  readonly nonce: string
  readonly #ask: Ask
  readonly #credentials: Credentials
  #sent = 0
  #last: Omit<Failure, 'why'> = { number: 0, request: {} }

  constructor(ask: Ask, { plants, nonce, credentials }: Circumstances) {
    this.#ask = ask
    this.#credentials = credentials
    this.plants = plants
    this.nonce = nonce
  }

  async send(asked: RowRequest, checks: readonly Check[]): Promise<Answer> {
    this.skipIf(whyLacking(asked, this.#credentials) ?? this.plants.whyNot(asked))
    const request = this.plants.fillIn(asked)
    this.#sent += 1
    const sent = { number: this.#sent, request }
    this.#last = sent
    const answer = await this.#ask(request)
    // The type of the refusal is narrower, for users of the package.
    if (answer instanceof NoAnswer) this.assert(answer.message, { ...sent, answer: answer.answer as Answer })
    const answered = { ...sent, answer: answer as Answer }
    this.#last = answered
    for (const check of checks) this.assert(check(answered.answer, this.plants), answered)
    return answered.answer
  }

  /** Ends the row, which cannot test the server, if there is a reason. */
  skipIf(why: string | false | undefined): void {
    if (why) throw new Ended({ skipped: why })
  }

  /** Ends the row if there is something wrong, by default with the last answer. */
  assert(why: string | undefined, { number, request, answer } = this.#last): void {
    if (why !== undefined) throw new Ended({ failure: { number, request, answer, why } })
  }

  /** Waits for requests that are sent at once. When all are answered, the first wrong answer ends the row. */
  async together<Value>(requests: readonly Promise<Value>[]): Promise<readonly Value[]> {
    await Promise.allSettled(requests)
    return await Promise.all(requests)
  }

  /**
   * Sends requests of several clients at once, of which exactly one takes effect.
   *
   * @param effect what the one did, such as `created the plant`.
   * @param statuses those of all answers, of which only a success shows that its request took effect.
   * @param isIt whether a success shows it.
   */
  async oneOf(
    requestOf: (client: number) => RowRequest,
    effect: string,
    statuses: readonly number[],
    isIt: (answer: Answer) => boolean = () => true,
  ): Promise<void> {
    const checks = [status(...statuses)]
    const clients = Array.from({ length: clientsAtOnce }, (_, client) => this.send(requestOf(client), checks))
    const answers = await this.together(clients)
    const count = answers.filter((answer) => answer.status < 300 && isIt(answer)).length
    this.assert(count === 1 ? undefined : `of ${clientsAtOnce} at once, ${count} ${effect}; exactly one must`)
  }

  create(plant: NewPlant, headers: Headers = {}, more: readonly Check[] = []): Promise<Answer> {
    return this.send({ body: plantJson(plant.id, plant.name, plant.tag), headers }, [...isCreated(plant), ...more])
  }

  /** Creates many plants, some at once. */
  async createAll(plants: readonly NewPlant[], headersOf: (plant: NewPlant) => Headers = () => ({})): Promise<void> {
    for (let at = 0; at < plants.length; at += createsAtOnce) {
      const some = plants.slice(at, at + createsAtOnce)
      await this.together(some.map((plant) => this.create(plant, headersOf(plant))))
    }
  }

  /** A create that is refused. */
  refuses(code: string, plant: NewPlant, headers: Headers = {}): Promise<Answer> {
    return this.send({ body: plantJson(plant.id, plant.name, plant.tag), headers }, refusal(code))
  }

  read(plant: NewPlant, more: readonly Check[] = []): Promise<Answer> {
    return this.get(plant.id, [status(200), isPlant(plant), ...more])
  }

  isMissing(id: bigint): Promise<Answer> {
    return this.get(id, refusal('unknownPlant'))
  }

  /** A request without a body. */
  call(method: string, target: string, checks: readonly Check[], headers: Headers = {}): Promise<Answer> {
    return this.send({ method, target, headers }, checks)
  }

  get(id: bigint, checks: readonly Check[] = ok, headers: Headers = {}): Promise<Answer> {
    return this.call('GET', `/plants/${id}`, checks, headers)
  }

  put(id: bigint, plant: string | Plant, checks: readonly Check[] = ok, headers: Headers = {}): Promise<Answer> {
    const body = typeof plant === 'string' ? plant : toJson(plant)
    return this.send({ method: 'PUT', target: `/plants/${id}`, body, headers }, checks)
  }

  remove(id: bigint, checks: readonly Check[] = [status(204)], headers: Headers = {}): Promise<Answer> {
    return this.call('DELETE', `/plants/${id}`, checks, headers)
  }

  /**
   * Follows the Links of a list. The checks apply to each page.
   *
   * @param isLast whether to stop after a page, by default at the last one.
   */
  async pages(
    first: RowRequest,
    checks: readonly Check[],
    isLast: (page: Answer, request: RowRequest) => boolean = () => false,
  ): Promise<readonly Answer[]> {
    const pages: Answer[] = []
    const [path, query] = (first.target ?? '').split('?')
    const limit = Number(new URLSearchParams(query).get('limit') ?? pagePlants)
    const targets = new Set<string | undefined>()
    for (let request = first; ; ) {
      targets.add(request.target)
      const page = await this.send(request, checks)
      pages.push(page)
      this.assert(itemsOf(page).length > limit ? `the Links lead to a page of more than ${limit}` : undefined)
      const next = isLast(page, request) ? undefined : nextPage(page, path)
      if (next === undefined) return pages
      this.assert(targets.has(next.target) ? 'the Link leads to a page that was read already' : undefined)
      this.assert(pages.length < pagesMax ? undefined : `after ${pagesMax} pages there is a Link to another one`)
      request = next
    }
  }

  /**
   * A list that must have exactly these plants, in any number of pages.
   *
   * @param last an id behind which others may follow: the list is not read to its end then.
   */
  async list(query: string, plants: readonly NewPlant[], limit?: number, last?: bigint): Promise<void> {
    const isBeyond = ({ id }: { readonly id?: unknown }): boolean =>
      last !== undefined && typeof id === 'bigint' && id > last
    const target = `/plants?${query}${limit === undefined ? '' : `&limit=${limit}`}`
    const pages = await this.pages({ method: 'GET', target }, ok, (page) => itemsOf(page).some(isBeyond))
    const listed = pages.flatMap(itemsOf).filter((plant) => !isBeyond(plant))
    this.assert(whyNotListed(listed, plants, this.plants))
  }
}

/** Why a run cannot send a request with a token that it does not have, such as `$SECOND_TOKEN`. */
function whyLacking({ headers = {} }: RowRequest, credentials: Credentials): string | undefined {
  const [name] = /\$[A-Z_]+_TOKEN/.exec(Object.values(headers).join()) ?? []
  const isLacking = name !== undefined && name in credentials && credentials[name] === undefined
  return isLacking ? `it needs --${name.slice(1).toLowerCase().replaceAll('_', '-')}` : undefined
}

/** The request for the page that a Link leads to; undefined on the last page. A proxy may prefix its path. */
export function nextPage(page: Answer, path = '/plants'): RowRequest | undefined {
  const query = /^<[^?>]*(\?[^>]*)>; rel="next"$/.exec(fieldOf(page, 'link') ?? '')?.[1]
  return query === undefined ? undefined : { method: 'GET', target: `${path}${query}` }
}
