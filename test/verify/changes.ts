// Small changes of a right server, from which the tables of wrong and of right servers are made.

import { randomUUID } from 'node:crypto'
import type { Answered, Behaviour, Received } from './wrong-servers.ts'

/**
 * Changes some answers.
 *
 * @param when method, path and status, such as `GET /plants/{id} 200`; `*` stands for any.
 */
export function answers(
  when: string,
  change: (answered: Answered, received: Received, forward: Forward) => Partial<Answered> | Promise<Partial<Answered>>,
): Behaviour {
  return async (received, forward) => {
    const answered = await forward(received)
    if (!isMeant(when, received, answered.status)) return answered
    const changed = { ...answered, ...(await change(answered, received, forward)) }
    const hasLost = changed.body.length === 0 && answered.body.length > 0
    return hasLost ? { ...changed, ...set('Content-Length', '0')(changed) } : changed
  }
}

export type Forward = Parameters<Behaviour>[1]

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
export function receives(when: string, change: (received: Received) => Partial<Received>): Behaviour {
  return (received, forward) =>
    forward(isMeant(`${when} *`, received, 0) ? { ...received, ...change(received) } : received)
}

/** Does not refuse: sends another request in place of one that the right server refuses. */
export function accepts(when: string, change: (received: Received) => Partial<Received>): Behaviour {
  return async (received, forward) => {
    const answered = await forward(received)
    if (!isMeant(when, received, answered.status)) return answered
    return forward({ ...received, ...change(received) })
  }
}

function isMeant(when: string, { method, target }: Received, status: number): boolean {
  const [methods = '*', path = '*', statuses = '*'] = when.split(' ')
  const [pathname = ''] = target.split('?', 1)
  return (
    (methods === '*' || methods.split('|').includes(method)) &&
    (path === '*' || new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname)) &&
    (statuses === '*' || statuses.split('|').includes(String(status)))
  )
}

/** A change that gives a header field of a request or an answer another value, or none. */
export function set(name: string, value: string | undefined) {
  return ({ fields }: Pick<Answered, 'fields'>): { readonly fields: string[] } => ({
    fields: [...without(fields, name), ...(value === undefined ? [] : [name, value])],
  })
}

export function without(fields: readonly string[], name: string): string[] {
  return fields.filter((_, at) => fields[at - (at % 2)]?.toLowerCase() !== name.toLowerCase())
}

/** The value of a header field, or an empty text. */
export function fieldOf({ fields }: Pick<Answered, 'fields'>, name: string): string {
  return fields.find((_, at) => at % 2 === 1 && fields[at - 1]?.toLowerCase() === name) ?? ''
}

/** A change of a text in the body. */
export function text(from: RegExp, to: string | ((...found: string[]) => string)) {
  return ({ body }: { readonly body: Buffer }): { readonly body: Buffer } => ({
    body: Buffer.from(body.toString().replace(from, to as string)),
  })
}

export interface AnyPlant {
  name?: unknown
  tag?: unknown
  [other: string]: unknown
}

/** A change of all plants in a JSON body. Ids stay exact; a body that is not JSON stays as it is. */
export function plants(change: (plant: AnyPlant) => AnyPlant | undefined) {
  return ({ body }: { readonly body: Buffer }): { readonly body: Buffer } => {
    const quoted = body.toString().replaceAll(/("id"\s*:\s*)(-?\d+)(?=\s*[,}])/g, '$1"#$2"')
    let value: unknown
    try {
      value = JSON.parse(quoted)
    } catch {
      return { body }
    }
    const changed = Array.isArray(value)
      ? value.map((plant) => change(plant)).filter((plant) => plant !== undefined)
      : change(value as AnyPlant)
    return { body: Buffer.from(JSON.stringify(changed).replaceAll(/"#(-?\d+)"/g, '$1')) }
  }
}

/** A change of the names and tags of plants. */
export function texts(change: (text: string) => string) {
  const changed = (value: unknown): unknown => (typeof value === 'string' ? change(value) : value)
  return plants((plant) => ({
    ...plant,
    ...('name' in plant && { name: changed(plant.name) }),
    ...('tag' in plant && { tag: changed(plant.tag) }),
  }))
}

/** A change of the query. Adds what `undefined` would remove. */
export function query(change: (query: URLSearchParams) => void) {
  return ({ target }: Received): { readonly target: string } => {
    const [path = '', text = ''] = target.split('?', 2)
    const parameters = new URLSearchParams(text)
    change(parameters)
    return { target: parameters.size === 0 ? path : `${path}?${parameters}` }
  }
}

/** An answer in place of one that the right server would give. */
export function instead(status: number, value?: unknown, more: readonly string[] = []): Answered {
  const fields = [
    ...['X-Request-Id', randomUUID(), 'X-Content-Type-Options', 'nosniff', 'Cache-Control', 'private, no-cache'],
    ...['Access-Control-Allow-Origin', '*', ...more],
  ]
  if (value === undefined) return { status, fields, body: Buffer.alloc(0) }
  return { status, fields: [...fields, 'Content-Type', 'application/json'], body: Buffer.from(JSON.stringify(value)) }
}
