// Operators: each changes one thing in the requests or the answers of a right server, and tables of servers made so.

import { randomUUID } from 'node:crypto'
import type { Answered, Behaviour, Received } from './wrong-servers.ts'

/** What a server does otherwise. */
export type Made = readonly [does: string, behave: Behaviour]
/** What a server does wrong, and the subject whose rows must find it. */
export type Wrong = readonly [...made: Made, subject: string]

export const caughtBy =
  (subject: string) =>
  (...all: readonly Made[]): readonly Wrong[] =>
    all.map((made) => [...made, subject])

/** A server, its title before it unless the operator has one. */
type Line<Change> = readonly [does: string, change: Change] | (Change & Titled)
interface Titled {
  /** The end of a title, such as `without ETag`. */
  readonly says: string
}
export type AnswerChange = (
  answered: Answered,
  received: Received,
  forward: Forward,
) => Partial<Answered> | Promise<Partial<Answered>>
type RequestChange = (received: Received) => Partial<Received>
type Refusal = (received: Received) => number | undefined
export type Forward = Parameters<Behaviour>[1]

/** Makes tables of servers that each change the same messages in another way. */
function tableOf<Change extends object>(verb: string, make: (when: string, change: Change) => Behaviour) {
  return (when: string) =>
    (...lines: readonly Line<Change>[]): readonly Made[] =>
      lines.map((line) => {
        const isNamed = Array.isArray(line)
        const change = (isNamed ? line[1] : line) as Change
        return [isNamed ? String(line[0]) : `${verb} ${when} ${(line as Titled).says}`, make(when, change)]
      })
}
export const answering = tableOf<AnswerChange>('answers', answers)
export const receiving = tableOf<RequestChange>('reads', receives)
export const accepting = tableOf<RequestChange>('accepts', accepts)
export const refusing = tableOf<Refusal>('refuses', (when, refuse) => async (received, forward) => {
  const error = isMeant(`${when} *`, received, 0) ? refuse(received) : undefined
  return error === undefined ? forward(received) : refusal(error)
})

export function titled<Change extends object>(says: string, change: Change): Change & Titled {
  return Object.assign(change, { says })
}

/**
 * Changes some answers.
 *
 * @param when method, path and status, such as `GET /plants/{id} 200`; `*` stands for any.
 */
export function answers(when: string, change: AnswerChange): Behaviour {
  return async (received, forward) => {
    const answered = await forward(received)
    if (!isMeant(when, received, answered.status)) return answered
    const changed = { ...answered, ...(await change(answered, received, forward)) }
    const hasLost = changed.body.length === 0 && answered.body.length > 0
    return hasLost ? { ...changed, ...set('Content-Length', '0')(changed) } : changed
  }
}

/** Answers requests as the first one with the same key, or by what `again` makes of that; those without a key anew. */
export function remembers(
  keyOf: (received: Received) => string | undefined,
  isKept: (status: number) => boolean,
  again = (first: Answered): Answered => first,
): Behaviour {
  const known = new Map<string | undefined, Answered>()
  return async (received, forward) => {
    const key = keyOf(received)
    const first = known.get(key)
    if (first !== undefined) return again(first)
    const answered = await forward(received)
    if (key !== undefined && isKept(answered.status)) known.set(key, answered)
    return answered
  }
}

/** Behaves in the knowledge of the targets of deleted plants. */
export function rememberingDeleted(
  behave: (gone: ReadonlySet<string>, ...parameters: Parameters<Behaviour>) => Promise<Answered>,
): Behaviour {
  const gone = new Set<string>()
  return async (received, forward) => {
    const answered = await behave(gone, received, forward)
    if (received.method === 'DELETE' && answered.status === 204) gone.add(received.target)
    return answered
  }
}

/** Does one change after another, from the last to the first. */
export function all(...behaviours: readonly Behaviour[]): Behaviour {
  return (received, forward) => {
    const from = (at: number): Forward => {
      const behave = behaviours[at]
      if (behave === undefined) return forward
      return async (each) => (await behave(each, from(at + 1))) as Answered
    }
    return from(0)(received)
  }
}

/** Changes some requests before the right server gets them. */
export function receives(when: string, change: RequestChange): Behaviour {
  return (received, forward) =>
    forward(isMeant(`${when} *`, received, 0) ? { ...received, ...change(received) } : received)
}

/** Does not refuse: sends another request in place of one that the right server refuses. */
export function accepts(when: string, change: RequestChange): Behaviour {
  return async (received, forward) => {
    const answered = await forward(received)
    if (!isMeant(when, received, answered.status)) return answered
    return forward({ ...received, ...change(received) })
  }
}

export function isMeant(when: string, { method, target }: Received, status: number): boolean {
  const [methods = '*', path = '*', statuses = '*'] = when.split(' ')
  const [pathname = ''] = target.split('?', 1)
  return (
    (methods === '*' || methods.split('|').includes(method)) &&
    (path === '*' || new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname)) &&
    (statuses === '*' || statuses.split('|').includes(String(status)))
  )
}

type Fields = Pick<Answered, 'fields'>

/** Gives a header field another value, or removes it. */
export function set(name: string, value: string | undefined) {
  const says = value === undefined ? `without ${name}` : `with ${name}: ${value}`
  return titled(says, ({ fields }: Fields): { readonly fields: string[] } => ({
    fields: [...without(fields, name), ...(value === undefined ? [] : [name, value])],
  }))
}

export const drop = (name: string) => set(name, undefined)

/** Replaces a part of a text, or changes it whole; undefined and the empty text remove it. */
export type Edit = readonly [from: RegExp, to: string] | readonly [change: (text: string) => string | undefined]
const applied = (text: string, [edit, to]: Edit): string | undefined =>
  typeof edit === 'function'
    ? edit(text)
    : text.replaceAll(new RegExp(edit, `${edit.flags.replace('g', '')}g`), to ?? '')
const saysEdit = (what: string, [edit, to = '']: Edit): string =>
  typeof edit === 'function' ? `with another ${what}` : `with ${edit} in ${what} as "${to}"`

/** Changes a header field that is there. */
export function edit(name: string, ...change: Edit) {
  return titled(saysEdit(name, change), (message: Fields): Partial<Fields> => {
    const value = fieldOf(message, name)
    return value === '' ? {} : set(name, applied(value, change) || undefined)(message)
  })
}

export const weakEtag = edit('ETag', /^/, 'W/')

/** Changes a message that has a header field of this form. */
export function having<Message, More extends readonly unknown[], Changed>(
  name: string,
  form: RegExp,
  change: (message: Message, ...more: More) => Changed,
) {
  const says = `${saysOf(change)} where ${name} is ${form}`
  return titled(says, (message: Message & Fields, ...more: More): Changed | Record<string, never> =>
    form.test(fieldOf(message, name)) ? change(message, ...more) : {},
  )
}

/** Changes the answer to a request that has a header field of this form. */
export function asked(name: string, form: RegExp, change: AnswerChange): AnswerChange & Titled {
  const says = `${saysOf(change)} where ${name} was ${form}`
  return titled(says, (answered, received, forward) =>
    form.test(fieldOf(received, name)) ? change(answered, received, forward) : {},
  )
}

const saysOf = (change: object): string => ('says' in change ? String(change.says) : 'otherwise')

export function without(fields: readonly string[], name: string): string[] {
  return fields.filter((_, at) => fields[at - (at % 2)]?.toLowerCase() !== name.toLowerCase())
}

/** The value of a header field, or an empty text. */
export function fieldOf({ fields }: Fields, name: string): string {
  return fields.find((_, at) => at % 2 === 1 && fields[at - 1]?.toLowerCase() === name.toLowerCase()) ?? ''
}

export const status = (status: number) => titled(`with status ${status}`, () => ({ status }))
export const empty = { body: Buffer.alloc(0) }
/** A body behind the head of an answer that must have none. */
export const surplus = titled('with a body', () => ({ surplus: Buffer.from('{}') }))

/** A time two hours later, in the same form. */
export const later = (time: string): string => {
  const date = new Date(Date.parse(time) + 7_200_000)
  return time.endsWith('Z') ? date.toISOString() : date.toUTCString()
}

/** Does not change an answer, but sends the right server another request, too. */
export function also(change: RequestChange) {
  const behave: AnswerChange = async (_, received, forward) => {
    await forward({ ...received, ...change(received) })
    return {}
  }
  return titled(`and does it ${saysOf(change)}`, behave)
}

/** Changes a text in the body. */
export function text(from: RegExp, to: string | ((...found: string[]) => string)) {
  return titled(saysEdit('the body', [from, String(to)]), ({ body }: { readonly body: Buffer }) => ({
    body: Buffer.from(body.toString().replace(from, to as string)),
  }))
}

/** Changes a path and its query. */
export function target(...change: Edit) {
  return titled(saysEdit('the target', change), ({ target }: Pick<Received, 'target'>) => ({
    target: applied(target, change) ?? target,
  }))
}

/** The JSON in a body. Ids stay exact: they are texts of the form `#7`. */
export const parsed = ({ body }: { readonly body: Buffer }): unknown =>
  JSON.parse(body.toString().replaceAll(/("id"\s*:\s*)(-?\d+)(?=\s*[,}])/g, '$1"#$2"'))
const written = (value: unknown): { readonly body: Buffer } => ({
  body: Buffer.from(JSON.stringify(value).replaceAll(/"#(-?\d+)"/g, '$1')),
})

/** Changes a JSON body, as `parsed` gives it; a body that is not JSON stays as it is. */
export function json<Value>(change: (value: Value) => unknown) {
  return (message: { readonly body: Buffer }): { readonly body: Buffer } => {
    let value: Value
    try {
      value = parsed(message) as Value
    } catch {
      return message
    }
    return written(change(value))
  }
}

export interface AnyPlant {
  name?: unknown
  tag?: unknown
  [other: string]: unknown
}

/** Changes all plants in a JSON body; undefined removes one. */
export function plants(change: (plant: AnyPlant) => AnyPlant | undefined) {
  return json((value: AnyPlant | AnyPlant[]) =>
    Array.isArray(value) ? value.map((plant) => change(plant)).filter((plant) => plant !== undefined) : change(value),
  )
}

export const untagged = titled(
  'without tags',
  plants(({ tag: _, ...plant }) => plant),
)

export const nullTags = titled(
  'with null for no tag',
  plants((plant) => ({ tag: null, ...plant })),
)
/** Writes plants anew: a key once, and nothing that is not a plant's. */
export const bare = plants(({ id, name }) => ({ id, name }))

/** Changes the names and tags of plants. */
export function texts(...change: Edit) {
  const changed = (value: unknown): unknown => (typeof value === 'string' ? applied(value, change) : value)
  return titled(
    saysEdit('texts', change),
    plants((plant) => ({
      ...plant,
      ...('name' in plant && { name: changed(plant.name) }),
      ...('tag' in plant && { tag: changed(plant.tag) }),
    })),
  )
}

export function queryOf({ target }: Pick<Received, 'target'>): URLSearchParams {
  return new URLSearchParams(target.split('?', 2)[1] ?? '')
}

/** Changes the query. */
export function query(change: (query: URLSearchParams) => unknown) {
  return (received: Received): { readonly target: string } => {
    const [path = ''] = received.target.split('?', 1)
    const parameters = queryOf(received)
    change(parameters)
    return { target: parameters.size === 0 ? path : `${path}?${parameters}` }
  }
}

/** Changes a parameter of the query that is there; undefined removes it. */
export function parameter(name: string, ...change: Edit) {
  const edited = query((parameters) => {
    const changed = applied(parameters.get(name) ?? '', change)
    if (changed === undefined) parameters.delete(name)
    else parameters.set(name, changed)
  })
  return titled(saysEdit(`the parameter ${name}`, change), (received: Received) =>
    queryOf(received).has(name) ? edited(received) : {},
  )
}

/** Gives a parameter of the query this value, also where it is missing, or removes it. */
export const asking = (name: string, value?: string) =>
  titled(
    value === undefined ? `without the parameter ${name}` : `with the parameter ${name}=${value}`,
    query((parameters) => (value === undefined ? parameters.delete(name) : parameters.set(name, value))),
  )

/** What JavaScript makes of an integer. */
export const rounded = (digits: string): string => String(BigInt(Number(digits)))

/** An answer in place of one that the right server would give. */
export function instead(status: number, value?: unknown, more: readonly string[] = []): Answered {
  const fields = [
    ...['X-Request-Id', randomUUID(), 'X-Content-Type-Options', 'nosniff', 'Cache-Control', 'private, no-cache'],
    ...['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', '*', ...more],
  ]
  if (value === undefined) return { status, fields, body: Buffer.alloc(0) }
  return { status, fields: [...fields, 'Content-Type', 'application/json'], body: Buffer.from(JSON.stringify(value)) }
}

/** Refuses what has a body, or a header field, of this form. */
export const unfit = (error: number, form: RegExp, name?: string) =>
  titled(`${name ?? 'a body'} of the form ${form}`, (received: Received) =>
    form.test(name === undefined ? received.body.toString() : fieldOf(received, name)) ? error : undefined,
  )

/** Answers with an Error. */
export const refuse = (error: number) => titled(`with error ${error}`, () => refusal(error))

/** An Error, whose number begins with its status. */
export function refusal(error: number, more: readonly string[] = []): Answered {
  return instead(Math.floor(error / 100), { error, message: 'refused' }, more)
}

/** One wrong server of each subject, or of each operation. */
export function firstOfEach(all: readonly Wrong[]): readonly Wrong[] {
  return [...new Map(all.map((wrong) => [wrong[2], wrong])).values()]
}
