// Tracks plants on the server: existing ones are never touched, those of the run are deleted.

import { type IdRange, int64Max, int64Min, roundedToDouble } from './ids.ts'
import { type Answer, itemsOf, jsonOf, objectOf, type RowRequest } from './message.ts'
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
    const strays = [...new Set(rows.flatMap((row) => row.strays ?? []))]
    const states = await inParallel([...others, ...strays], requestsAtOnce, (id) => this.#stateOf(id))
    for (const [at, id] of [...others, ...strays].entries()) {
      if (states[at] === 'free' || (states[at] === 'refused' && strays.includes(id))) this.#free.add(id)
    }
    const listed = await this.#listed()
    this.#wasListEmpty = listed?.length === 0
    return others.find((_, at) => states[at] === 'taken') ?? listed?.[0]
  }

  /** Why a row might touch a plant outside the range; undefined if it is safe. */
  whyNotSafe({ strays = [], level }: PlacedRow): string | undefined {
    if (strays.length === 0 || this.#refusesTaken) return undefined
    const taken = this.#canLook ? strays.find((id) => !this.#free.has(id)) : strays[0]
    // The document's own refusals name no plant.
    if (taken === undefined || (!this.#canLook && level === 'specified')) return undefined
    const why = this.#canLook ? 'overwrite that plant' : 'it is unknown whether that plant exists'
    return `a faulty server might confuse its id with ${taken}, and ${why}`
  }

  begin(row: PlacedRow): void {
    for (const id of row.ids) this.#begun.add(id)
  }

  /** Until a plant could be read, tries to after each row. */
  async end(): Promise<void> {
    await this.#tryToRead([...this.#accepted].slice(0, 1))
  }

  /** Records what a row's request may have created. */
  observe(row: PlacedRow, { method = 'POST', body, headers }: RowRequest, answer: Answer): void {
    if (method !== 'POST') return
    if (answer.status >= 300) {
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
    await this.#tryToRead([...this.#begun])
    // A plant under a previously free id belongs to this run. For other ids, only acknowledged creates count.
    const named = this.#canLook ? [...this.#begun].flatMap((id) => [id, roundedToDouble(id)]) : []
    const ids = new Set([...named.filter((id) => this.#free.has(id)), ...this.#accepted])
    const left = await this.#delete(ids)
    if (this.#canLook && this.#wasListEmpty) left.push(...(await this.#delete((await this.#listed()) ?? [])))
    const strays = new Set([...this.#vague].flatMap((row) => row.strays ?? []))
    const found = new Set<bigint>()
    for (const id of this.#canLook ? strays : []) {
      const isOurs = this.#free.has(id) && (await this.#stateOf(id, strayName)) === 'taken'
      if (isOurs && (await this.#delete([id])).length === 0) found.add(id)
    }
    const vague = [...this.#vague].filter((row) => !row.strays?.some((id) => found.has(id)))
    return [
      ...[...new Set(left)].toSorted((one, other) => (one < other ? -1 : 1)).map((id) => `plant ${id}`),
      ...vague.map(({ title }) => `any plant that the server created for "${title}"`),
    ]
  }

  async #tryToRead(ids: readonly bigint[]): Promise<void> {
    if (this.#canLook || this.#free.size === 0) return
    const states = await inParallel(ids, requestsAtOnce, (id) => this.#stateOf(id))
    this.#canLook = states.includes('taken')
  }

  /** Returns the ids that may still be taken. */
  async #delete(ids: Iterable<bigint>): Promise<bigint[]> {
    const all = [...ids]
    const isFree = await inParallel(all, requestsAtOnce, async (id) => {
      const answer = await this.#ask({ method: 'DELETE', target: `/plants/${id}` })
      const status = answer instanceof NoAnswer ? 0 : answer.status
      if (status >= 200 && status <= 299) return true
      return this.#canLook && (status === 404 || (await this.#stateOf(id)) === 'free')
    })
    return all.filter((_, at) => !isFree[at])
  }

  /**
   * `refused`: the server does not accept the id.
   *
   * @param name by default any; another plant makes the state unknown.
   */
  async #stateOf(id: bigint, name?: string): Promise<'free' | 'taken' | 'refused' | 'unknown'> {
    const answer = await this.#ask({ method: 'GET', target: `/plants/${id}` })
    if (answer instanceof NoAnswer) return 'unknown'
    if (answer.status === 404) return 'free'
    if (answer.status === 400 || answer.status === 422) return 'refused'
    const found = objectOf(answer)
    // A mock answers every request with its own plant.
    const isIt = typeof found['id'] === 'bigint' && roundedToDouble(found['id']) === roundedToDouble(id)
    return answer.status === 200 && isIt && (name ?? found['name']) === found['name'] ? 'taken' : 'unknown'
  }

  /** The plants of the range, if the server can list from an id on. */
  async #listed(): Promise<readonly bigint[] | undefined> {
    const { first, last } = this.#range
    const after = first === int64Min ? '' : `after=${first - 1n}&`
    const answer = await this.#ask({ method: 'GET', target: `/plants?${after}limit=1000` })
    if (answer instanceof NoAnswer || answer.status !== 200 || !Array.isArray(jsonOf(answer))) return undefined
    const ids = itemsOf(answer).map(({ id }) => id)
    return ids.filter((id) => typeof id === 'bigint' && id >= first && id <= last) as bigint[]
  }
}

/** The ids of a row that a request contains, in any form; the only one of a row even if no form can be found. */
function idsIn(body: RowRequest['body'] = '', { ids }: PlacedRow): readonly bigint[] {
  if (ids.length === 1) return ids
  const { id: written } = objectOf({ body: Buffer.from(body) })
  return ids.filter((id) => id === written || new RegExp(`(?<!\\d)${id}(?!\\d)`).test(body.toString()))
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
