// Tracks plants on the server: existing ones are never touched, those of the run are deleted.

import { type IdRange, int64Max, int64Min, roundedToDouble } from './ids.ts'
import { type Answer, hasSucceeded, itemsOf, jsonOf, objectOf, type RowRequest } from './message.ts'
import { NoAnswer } from './results.ts'
import type { PlacedRow } from './row.ts'

/** The name of plants whose id is outside the range, in case the server accepts them. */
export const strayName = 'plantstore verify'
/** Ids that a faulty server may derive from an invalid or too large id. */
export const strayIds = { zero: [0n], one: [0n, 1n], tooLarge: [int64Max, int64Min, int64Max + 1n, int64Min - 1n] }
const requestsAtOnce = 32

export class Traces {
  readonly #ask: (request: RowRequest) => Promise<Answer | NoAnswer>
  readonly #range: IdRange
  /** Whether a created plant could be read. Until then, a 404 may come from a server that cannot read at all. */
  #canLook = false
  #hasTried = false
  /** Ids that were free: plants found there later belong to this run; those of strays only if they have its name. */
  readonly #free = new Set<bigint>()
  /** Whether a list of the range was empty. */
  #wasListEmpty = false
  /** The body of the last accepted create. */
  #lastAccepted: RowRequest['body']
  /** Whether the server refused to repeat that create, so it overwrites nothing. */
  #refusesTaken = false
  readonly #begun = new Set<bigint>()
  readonly #accepted = new Set<bigint>()
  /** Rows that name no id of the range, but were accepted. */
  readonly #vague = new Set<PlacedRow>()
  /** Ids of strays that were deleted. */
  readonly #cleaned = new Set<bigint>()

  constructor(range: IdRange, ask: (request: RowRequest) => Promise<Answer | NoAnswer>) {
    this.#range = range
    this.#ask = ask
  }

  /** Checks whether the ids are free. Returns one that is taken, if any. */
  async look(rows: readonly PlacedRow[]): Promise<bigint | undefined> {
    const [first, ...others] = new Set(rows.flatMap((row) => row.ids.flatMap((id) => [id, roundedToDouble(id)])))
    if (first === undefined) return undefined
    // An inconclusive answer, such as from a busy server, does not make an id free.
    const state = await this.#stateOf(first)
    if (state !== 'free') return state === 'taken' ? first : undefined
    this.#free.add(first)
    const states = await inParallel(others, requestsAtOnce, (id) => this.#stateOf(id))
    for (const [at, id] of others.entries()) if (states[at] === 'free') this.#free.add(id)
    for (const id of new Set(rows.flatMap(({ strays = [] }) => strays))) {
      if (['free', 'refused'].includes(await this.#stateOf(id))) this.#free.add(id)
    }
    const listed = await this.#listed()
    this.#wasListEmpty = listed?.length === 0
    return others.find((_, at) => states[at] === 'taken') ?? listed?.[0]
  }

  /** Why a row might touch a plant outside the range; undefined if it is safe. */
  whyNotSafe({ strays = [], level }: PlacedRow): string | undefined {
    const [first] = strays
    if (first === undefined || this.#refusesTaken) return undefined
    if (!this.#canLook) {
      // The document's own refusals name no plant.
      if (level === 'specified') return undefined
      return `a faulty server might confuse its id with ${first}, and it is unknown whether that plant exists`
    }
    const taken = strays.find((id) => !this.#free.has(id))
    return taken === undefined
      ? undefined
      : `a faulty server might confuse its id with ${taken}, and overwrite that plant`
  }

  begin(row: PlacedRow): void {
    for (const id of row.ids) this.#begun.add(id)
  }

  /** Reads a plant after the first row that created one. */
  async end(): Promise<void> {
    const [id] = this.#accepted
    if (this.#hasTried || id === undefined) return
    this.#hasTried = true
    await this.#tryToRead([id])
  }

  /** Records what a row's request may have created. */
  observe(row: PlacedRow, { method = 'POST', body, headers }: RowRequest, answer: Answer): void {
    if (method !== 'POST') return
    if (!hasSucceeded(answer)) {
      const isRepeated = body === this.#lastAccepted && Object.keys(headers ?? {}).length === 0
      if (isRepeated && answer.status < 500) this.#refusesTaken = true
      return
    }
    this.#lastAccepted = body
    for (const id of idsIn(body, row)) this.#accepted.add(id)
    if (row.ids.length === 0) this.#vague.add(row)
  }

  /** Deletes what the run created. Returns a description of what may remain. */
  async clean(): Promise<readonly string[]> {
    if (!this.#canLook) await this.#tryToRead([...this.#begun])
    // A plant under a previously free id belongs to this run. For other ids, only acknowledged creates count.
    const named = this.#canLook ? [...this.#begun].flatMap((id) => [id, roundedToDouble(id)]) : []
    const ids = [...new Set([...named.filter((id) => this.#free.has(id)), ...this.#accepted])]
    const isGone = await inParallel(ids, requestsAtOnce, (id) => this.#delete(id))
    const left = new Set(ids.filter((_, at) => !isGone[at]))
    if (this.#canLook && this.#wasListEmpty) {
      for (const id of (await this.#listed()) ?? []) if (!(await this.#delete(id))) left.add(id)
    }
    const vague: string[] = []
    for (const { title, strays = [] } of this.#vague) {
      if (!(await this.#cleanStrays(strays))) vague.push(`any plant that the server created for "${title}"`)
    }
    return [...[...left].toSorted((one, other) => (one < other ? -1 : 1)).map((id) => `plant ${id}`), ...vague]
  }

  async #tryToRead(ids: readonly bigint[]): Promise<void> {
    if (this.#free.size === 0) return
    const states = await inParallel(ids, requestsAtOnce, (id) => this.#stateOf(id))
    this.#canLook = states.includes('taken')
  }

  /** Deletes the plants of this run that a row led to. Returns whether there was one. */
  async #cleanStrays(strays: readonly bigint[]): Promise<boolean> {
    if (!this.#canLook) return false
    for (const id of strays.filter((each) => this.#free.has(each))) {
      if ((await this.#stateOf(id, strayName)) === 'taken' && (await this.#delete(id))) this.#cleaned.add(id)
    }
    return strays.some((id) => this.#cleaned.has(id))
  }

  /** Returns whether the id is free afterwards. */
  async #delete(id: bigint): Promise<boolean> {
    const answer = await this.#tryTo({ method: 'DELETE', target: `/plants/${id}` })
    if (answer !== undefined && hasSucceeded(answer)) return true
    if (!this.#canLook) return false
    return answer?.status === 404 || (await this.#stateOf(id)) === 'free'
  }

  /**
   * `refused`: the server does not accept the id.
   *
   * @param name by default any; another plant makes the state unknown.
   */
  async #stateOf(id: bigint, name?: string): Promise<'free' | 'taken' | 'refused' | 'unknown'> {
    const answer = await this.#tryTo({ method: 'GET', target: `/plants/${id}` })
    if (answer?.status === 404) return 'free'
    if (answer?.status === 400 || answer?.status === 422) return 'refused'
    if (answer?.status !== 200) return 'unknown'
    // A mock answers every request with its own plant.
    const found = objectOf(answer)
    return isSameToDoubles(found['id'], id) && (found['name'] === name || name === undefined) ? 'taken' : 'unknown'
  }

  /** The plants of the range, if the server can list from an id on. */
  async #listed(): Promise<readonly bigint[] | undefined> {
    const after = this.#range.first === int64Min ? '' : `after=${this.#range.first - 1n}&`
    const answer = await this.#tryTo({ method: 'GET', target: `/plants?${after}limit=1000` })
    if (answer?.status !== 200 || !Array.isArray(jsonOf(answer))) return undefined
    return itemsOf(answer)
      .map(({ id }) => id)
      .filter((id) => typeof id === 'bigint' && this.#range.has(id)) as bigint[]
  }

  async #tryTo(request: RowRequest): Promise<Answer | undefined> {
    const answer = await this.#ask(request)
    return answer instanceof NoAnswer ? undefined : answer
  }
}

/** The ids of a row that a request contains: all of them if it contains any, in any form. */
function idsIn(body: RowRequest['body'], { ids }: PlacedRow): readonly bigint[] {
  if (ids.length === 1) return ids
  const text = body?.toString() ?? ''
  return ids.filter((id) => new RegExp(`(?<!\\d)${id}(?!\\d)`).test(text))
}

function isSameToDoubles(one: unknown, other: bigint): boolean {
  return typeof one === 'bigint' && roundedToDouble(one) === roundedToDouble(other)
}

/** Calls a function for each item, a number of them at once. Returns the results in order. */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  call: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  const entries = items.entries()
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await call(item)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}
