// Servers whose lists are wrong in one way, and some whose lists are right in a way of their own.

import { type Answered, type Behaviour, type Received, replaceField } from './wrong-servers.ts'

type ListBehaviour = (query: URLSearchParams, ask: (query: URLSearchParams) => Promise<Answered>) => Promise<Answered>

/** Does something of its own with the lists that are asked for with a tag, as those of all rows are: of two words. */
export function ofLists(behave: ListBehaviour): Behaviour {
  return (received, forward) => {
    const query = queryOf(received)
    if (query?.get('tag')?.includes(' ') !== true) return forward(received)
    return behave(query, (changed) => forward({ ...received, target: `/plants?${changed}` }))
  }
}

function queryOf({ method, target }: Received): URLSearchParams | undefined {
  const query = /^\/plants(?:$|\?(?<query>.*))/.exec(target)
  return method === 'GET' && query !== null ? new URLSearchParams(query.groups?.['query'] ?? '') : undefined
}

export function withParameter(query: URLSearchParams, name: string, value: string | undefined): URLSearchParams {
  const changed = new URLSearchParams(query)
  changed.delete(name)
  if (value !== undefined) changed.set(name, value)
  return changed
}

export function plantsIn({ status, body }: Answered): string[] {
  return status === 200 ? (body.toString().match(/\{[^}]*\}/g) ?? []) : []
}

export function withPlants(answered: Answered, plants: readonly string[]): Answered {
  return answered.status === 200 ? { ...answered, body: Buffer.from(`[${plants.join()}]`) } : answered
}

function idOf(plant: string): string {
  return /"id":(-?\d+)/.exec(plant)?.[1] ?? ''
}

function linkOf({ fields }: Answered): string | undefined {
  const at = fields.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === 'link')
  return at === -1 ? undefined : fields[at + 1]
}

/** Asks a database for names LIKE what was sent. */
export const takesWildcards: Behaviour = ofLists((query, ask) => {
  const isWild = /^[%_]/.test(query.get('name') ?? '')
  return ask(isWild ? withParameter(query, 'name', undefined) : query)
})

/** Has the tag of a plant LIKE what was sent. */
export const takesWildcardsInTags: Behaviour = ofLists((query, ask) => {
  const tag = query.get('tag') ?? ''
  return ask(tag.endsWith(' %') ? withParameter(query, 'tag', tag.replace(/%$/, 'fern')) : query)
})

export const sortsIdsAsText: Behaviour = ofLists(async (query, ask) => {
  const answered = await ask(query)
  return withPlants(
    answered,
    plantsIn(answered).toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)),
  )
})

export const takesAfterAsUnsigned: Behaviour = ofLists(async (query, ask) => {
  const answered = await ask(query)
  return query.get('after')?.startsWith('-') === true ? withPlants(answered, []) : answered
})

export const ignoresLimits: Behaviour = ofLists((query, ask) =>
  ask(Number(query.get('limit')) < 1_000 ? withParameter(query, 'limit', '1000') : query),
)

export const linksToTheSamePage: Behaviour = ofLists(async (query, ask) => {
  const answered = await ask(query)
  return { ...answered, fields: replaceField(answered.fields, 'link', `</plants?${query}>; rel="next"`) }
})

export function linksOnAndOn(): Behaviour {
  let pages = 0
  return (received, forward) => {
    const target = received.target.replace(/&page=\d+/, '')
    const neverEnds = ofLists(async (query, ask) => {
      const answered = await ask(query)
      if (query.get('limit') !== '2') return answered
      const link = `</plants?${query}&page=${++pages}>; rel="next"`
      return { ...answered, fields: [...answered.fields.filter(isNoLink), 'Link', link] }
    })
    return neverEnds({ ...received, target }, forward)
  }
}

function isNoLink(_each: string, at: number, fields: readonly string[]): boolean {
  return fields[at - (at % 2)]?.toLowerCase() !== 'link'
}

export const forgetsFiltersInLinks: Behaviour = ofLists(async (query, ask) => {
  const answered = await ask(query)
  const link = linkOf(answered)?.replace(/tag=[^&>]*&?/, '')
  return link === undefined ? answered : { ...answered, fields: replaceField(answered.fields, 'link', link) }
})

export const hasNoDefaultLimit: Behaviour = (received, forward) => {
  const { target } = received
  const isMeant = queryOf(received)?.has('limit') === false
  return forward(isMeant ? { ...received, target: `${target}${target.includes('?') ? '&' : '?'}limit=1000` } : received)
}

/** Finds a plant by what it was created with, whatever it was replaced with. */
export function neverUpdatesItsIndex(property: 'tag' | 'name'): Behaviour {
  const created = new Map<string, string>()
  const replaced = new Set<string>()
  return async (received, forward) => {
    const answered = await forward(received)
    const { method, target, body } = received
    if (method === 'POST' && answered.status === 200) created.set(idOf(body.toString()), body.toString())
    if (method === 'PUT' && answered.status === 200) replaced.add(target.replace('/plants/', ''))
    const query = queryOf(received)
    const wanted = query?.get(property)?.toLowerCase()
    if (wanted === undefined) return answered
    const stale: string[] = []
    for (const id of replaced) {
      const before = JSON.parse(created.get(id) ?? '{}')[property]?.toLowerCase()
      const isFound = property === 'tag' ? before === wanted : before?.startsWith(wanted)
      if (!isFound || plantsIn(answered).some((plant) => idOf(plant) === id)) continue
      const read = await forward({ ...received, target: `/plants/${id}` })
      const isAsked = property === 'tag' || JSON.parse(read.body.toString()).tag === query?.get('tag')
      if (read.status === 200 && isAsked) stale.push(read.body.toString())
    }
    return withPlants(answered, [...plantsIn(answered), ...stale])
  }
}

/** Lists what was deleted, by its tag. */
export function neverForgets(): Behaviour {
  const deleted: string[] = []
  return async (received, forward) => {
    const isRemoval = received.method === 'DELETE' && received.target.startsWith('/plants/')
    const before = isRemoval ? await forward({ ...received, method: 'GET' }) : undefined
    const answered = await forward(received)
    if (before?.status === 200 && answered.status === 204) deleted.push(before.body.toString())
    const tag = queryOf(received)?.get('tag')
    if (tag == null) return answered
    return withPlants(answered, [...plantsIn(answered), ...deleted.filter((plant) => JSON.parse(plant).tag === tag)])
  }
}

/** One plant a page, and an empty page now and then: right, although a page could have more. */
export const hasShortPages: Behaviour = ofLists(async (query, ask) => {
  const isValid = /^[1-9]\d{0,2}$/.test(query.get('limit') ?? '100')
  if (!isValid) return ask(query)
  const answered = await ask(withParameter(query, 'limit', '1'))
  const [plant] = plantsIn(answered)
  if (plant === undefined) return answered
  // The last page is empty.
  const next = withParameter(query, 'after', idOf(plant))
  const link = `</plants?${next}>; rel="next"`
  const fields = linkOf(answered) === undefined ? [...answered.fields, 'Link', link] : answered.fields
  return { ...answered, fields: replaceField(fields, 'link', link) }
})
