// Lists: pages, filters, and ETags of pages. Most rows filter by a tag unique to this run.

import { type AnswerCheck, etagForm, field, hasNoBody, isListOf, ok, refusal, sameField, status } from '../checks.ts'
import { int64Max, int64Min } from '../ids.ts'
import { canonical } from '../json.ts'
import { type Answer, fieldOf, itemsOf, jsonOf } from '../message.ts'
import type { NewPlant, Plant } from '../plant.ts'
import { type Circumstances, forProxies, type Row, row } from '../row.ts'
import { nextPage, pagePlants, type Store } from '../store.ts'

const pages =
  'lists plants in ascending order of id; Link has the next page, and is absent on the last one (listPlants)'
const visits = 'following the links visits every plant that exists throughout exactly once (listPlants)'
const pageEtags =
  'a page has an ETag, which covers its plants and its Link; If-None-Match gets 304 while it is the same ' +
  '(listPlants)'
export const filters =
  'tag selects plants with exactly this tag, name plants whose name begins with it, ignoring case; both ' +
  'combine (the parameters tag and name)'

export function among(tag: string): string {
  return `tag=${encodeURIComponent(tag)}`
}

/** Plants that are equal except for their ids. */
function plantsOf(ids: readonly bigint[], plant: Plant): readonly NewPlant[] {
  return ids.map((id) => ({ id, ...plant }))
}

export function listRows(circumstances: Circumstances): readonly Row[] {
  return [
    pagesRow(circumstances),
    unfilteredRow(circumstances),
    defaultRow(circumstances),
    changingRow(circumstances),
    ...tagRows(circumstances),
    changedRow(circumstances),
    pageEtagRow(circumstances),
    ...longRows(circumstances),
  ]
}

function pagesRow({ ids, nonce }: Circumstances): Row {
  const tag = `pages & + ${nonce}`
  const [near, other] = [ids.near(3), ids.nextFromEnd()]
  // In most ranges, these ids have more digits than the others.
  const far = [1, 2, 3].map(() => ids.nextFromEnd() + 1n).toReversed()
  const title = 'a list follows its links to the end, in the order of the ids, and keeps its filters'
  return row(title, pages, [...near, ...far, other], async (store) => {
    const first = plantsOf(near, { name: 'Rosa "GLAUCA"', tag })
    const all = [...first, ...plantsOf(far, { name: 'n', tag })]
    const query = among(tag)
    await store.create({ id: other, name: 'n' })
    for (const plant of all.toReversed()) await store.create(plant)
    await store.list(query, all, 2)
    await store.list(query, all)
    await store.list(`${query}&after=${near[1]}`, all.slice(2))
    await store.list(`${query}&after=${int64Min}`, all)
    await store.list(`${query}&after=${int64Max}`, [])
    await store.list(`${query}&name=rosa`, first, 1)
    await store.list(`${query.replaceAll('%20', '+')}&after=${near[1]}`, all.slice(2), 1)
    // A page may have fewer plants than its limit, but with one plant left there is another page.
    const target = `/plants?${query}&limit=${all.length - 1}`
    await store.call('HEAD', target, [...ok, hasNoBody, field('Link', /rel="next"/)])
    await store.call('GET', target, [...ok, field('Link', /rel="next"/)])
  })
}

function unfilteredRow({ ids }: Circumstances): Row {
  const own = ids.near(4)
  const [first = 0n, , , last = 0n] = own
  return row('without a filter, a list has every plant, whole and in order', pages, own, async (store) => {
    const texts: readonly Plant[] = [
      { name: 'N' },
      { name: 'N', tag: '' },
      { name: 'n', tag: 'Ünïcode' },
      { name: 'N', tag: '' },
    ]
    const plants = texts.map((plant, at) => ({ id: first + BigInt(at), ...plant }))
    const tagged = plants.filter(({ tag }) => tag === '')
    const after = `after=${first - 1n}`
    for (const plant of plants.toReversed()) await store.create(plant)
    await store.listUpTo(last, after, plants)
    await store.listUpTo(last, `after=${first}`, plants.slice(1))
    for (const limit of [2, 1]) await store.listUpTo(last, `${after}&tag=`, tagged, limit)
    for (const name of ['', 'n']) await store.listUpTo(last, `${after}&name=${name}`, plants)
  })
}

function defaultRow({ ids, nonce }: Circumstances): Row {
  const says = `limit is ${pagePlants} by default (the parameter limit)`
  const title = `a page has ${pagePlants} plants at most, unless it is asked for more`
  return row(title, says, ids.near(pagePlants + 1), async (store, ...own) => {
    const tag = `default ${nonce}`
    const plants = plantsOf(own, { name: 'n', tag })
    await store.createAll(plants)
    await store.list(among(tag), plants)
    await store.list(among(tag), plants, 1_000)
  })
}

/** Creates and deletes a plant before the place where the first page ends. */
function changingRow({ ids, nonce }: Circumstances): Row {
  const title = 'following the links visits every plant that stays exactly once, whatever changes meanwhile'
  return row(title, visits, ids.near(5), async (store, ...own) => {
    const tag = `changing ${nonce}`
    const [late, mortal, ...stay] = plantsOf(own, { name: 'n', tag }) as [NewPlant, NewPlant, ...NewPlant[]]
    await store.createAll([mortal, ...stay])
    const target = `/plants?${among(tag)}&limit=2`
    const first = await store.call('GET', target, [...ok, isListOf(2)])
    const seen = itemsOf(first).map(({ id }) => id)
    const goesOn: AnswerCheck = (page) => {
      const came = itemsOf(page).filter(({ id }) => stay.some((plant) => plant.id === id))
      const wanted = stay.filter(({ id }) => !seen.includes(id)).slice(0, came.length)
      const [found, next] = [came, wanted].map((all) => all.map(({ id }) => id).join(', '))
      return found === next ? undefined : `the next page has ${found} of the plants that stay, not ${next || 'none'}`
    }
    const next = nextPage(first) ?? { method: 'GET', target }
    await store.create(late)
    await store.send(next, [...ok, goesOn])
    await store.remove(late.id)
    await store.remove(mortal.id)
    await store.send(next, [...ok, goesOn])
    await store.list(`${among(tag)}&after=${mortal.id}`, stay)
  })
}

/** A tag, the tags, or none, of other plants, and tags that no plant has. */
type Tagged = readonly [title: string, tag: string, others: readonly (string | undefined)[], ...absent: string[]]

const tagged: readonly Tagged[] = [
  ['in its case', 'fern', ['FERN', undefined], 'fer', '%', 'Fern'],
  ['with its spaces', 'two  words ', ['two  words', 'two words '], ' two  words '],
  ['not composed', 'e\u0301', ['\u00e9'], 'e'],
  ['with every character', 'a+b&c=d%20?#;\u{1f33f}\r\n', ['a b&c=d%20?#;\u{1f33f}'], 'a'],
]

function tagRows({ ids, nonce }: Circumstances): Row[] {
  return tagged.map(([title, wanted, others, ...absent]) => {
    const own = ids.take(others.length + 1).map((id) => id + 1n)
    return row(`a tag lists exactly the plants that have it: ${title}`, filters, own, async (store, id, ...rest) => {
      const ofRow = (tag: string): string => `filters ${nonce} ${tag}`
      const plant = { id, name: 'Fern', tag: ofRow(wanted) }
      await store.create(plant)
      for (const [at, other] of others.entries()) {
        const more = other === undefined ? {} : { tag: ofRow(other) }
        await store.create({ id: rest[at] as bigint, name: ofRow(wanted), ...more })
      }
      await store.list(among(plant.tag), [plant])
      for (const tag of absent) await store.list(among(ofRow(tag)), [])
    })
  })
}

/** A list contains the plants that match now, not those that matched earlier. */
function changedRow({ ids, nonce }: Circumstances): Row {
  const title = 'a replaced plant is listed only by its new tag and name, a deleted plant not at all'
  return row(title, filters, ids.take(1), async (store, id) => {
    const [before, after] = [`before ${nonce}`, `after ${nonce}`]
    const find = (tag: string, name: string): string => `${among(tag)}&name=${name}`
    const rosa = { id, name: 'Rosa', tag: before }
    const salvia = { id, name: 'Salvia', tag: after }
    await store.create(rosa)
    await store.list(find(before, 'rosa'), [rosa])
    await store.put(id, JSON.stringify({ name: salvia.name, tag: after }))
    await store.list(among(before), [])
    await store.list(find(after, 'rosa'), [])
    await store.list(find(after, 'salvia'), [salvia])
    await store.put(id, JSON.stringify({ name: rosa.name }))
    await store.list(among(after), [])
    await store.put(id, JSON.stringify({ name: salvia.name, tag: after }))
    await store.list(among(after), [salvia])
    await store.remove(id)
    await store.list(among(after), [])
  })
}

/** The bounds of texts count characters. */
function longRows({ ids, nonce, plants }: Circumstances): Row[] {
  const [nameMax, tagMax] = [plants.lengthsOf('name').max, plants.lengthsOf('tag').max]
  const byTag = `a list is filtered by a tag of ${tagMax} characters outside the BMP`
  const byName = `a list is filtered by a name of ${nameMax.toLocaleString('en')} characters outside the BMP`
  return [
    row(byTag, filters, ids.take(1), async (store, id) => {
      const plant = { id, name: 'n', tag: '🌿'.repeat(tagMax) }
      await store.create(plant)
      await store.listUpTo(id, `after=${id - 1n}&${among(plant.tag)}`, [plant], 1)
    }),
    forProxies(
      row(byName, filters, ids.take(1), async (store, id) => {
        const plant = { id, name: '🌿'.repeat(nameMax), tag: `long ${nonce}` }
        await store.create(plant)
        await store.list(`${among(plant.tag)}&name=${encodeURIComponent(plant.name)}`, [plant])
      }),
    ),
  ]
}

/** Equal exactly for equal pages, so that a client that polls gets 304 until something changes. */
function pageEtagRow({ ids, nonce }: Circumstances): Row {
  const title = 'the ETag of a page changes with the page, and If-None-Match gets 304 until then'
  return row(title, pageEtags, ids.near(3), async (store, ...own) => {
    const tag = `etags of pages ${nonce}`
    const [one, other, late] = plantsOf(own, { name: 'n', tag }) as [NewPlant, NewPlant, NewPlant]
    const watched = new Page(store, `/plants?${among(tag)}&limit=1000`)
    const linked = new Page(store, `/plants?${among(tag)}&limit=2`)
    const rename = (name: string) => store.put(one.id, JSON.stringify({ name, tag }))
    await store.create(one)
    await store.create(other)
    await watched.read()
    await watched.isUnchanged()
    await rename('m')
    await watched.hasChanged()
    await store.list(among(tag), [{ ...one, name: 'm' }, other])
    await linked.read()
    await store.create(late)
    await watched.hasChanged()
    await linked.hasChanged()
    await linked.isUnchanged()
    await store.list(among(tag), [{ ...one, name: 'm' }, other, late])
    await store.remove(late.id)
    await store.remove(other.id)
    await watched.hasChanged()
    await store.list(among(tag), [{ ...one, name: 'm' }])
    await store.create(other)
    await rename('n')
    await watched.read()
  })
}

/** The first page of a list, as it was read from time to time. */
class Page {
  readonly #store: Store
  readonly #target: string
  readonly #earlier: Answer[] = []

  constructor(store: Store, target: string) {
    this.#store = store
    this.#target = target
  }

  async read(): Promise<Answer> {
    const page = await this.#get([...ok, field('ETag', etagForm), this.#isOfContent])
    this.#earlier.push(page)
    return page
  }

  async isUnchanged(): Promise<void> {
    const last = this.#earlier.at(-1) as Answer
    const etag = fieldOf(last, 'etag') ?? ''
    const unchanged = [status(304), hasNoBody]
    for (const value of [etag, `W/${etag}`, `"x", ${etag}`])
      await this.#get([...unchanged, sameField('ETag', last)], value)
    await this.#store.call('HEAD', this.#target, unchanged, { 'If-None-Match': etag })
    await this.#get(unchanged, '*')
    await this.#get([...ok, this.#isOfContent], '"x"')
    await this.#get(refusal('invalidHeader'), 'x')
  }

  /** A page that begins with other plants than the changed ones, such as none, is still the first one. */
  async hasChanged(): Promise<void> {
    const etag = fieldOf(this.#earlier[0] as Answer, 'etag')
    const isSame = fieldOf(await this.read(), 'etag') === etag
    await this.#get([status(isSame ? 304 : 200)], etag)
  }

  #get(checks: Parameters<Store['call']>[2], ifNoneMatch?: string): Promise<Answer> {
    return this.#store.call(
      'GET',
      this.#target,
      checks,
      ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch },
    )
  }

  /** The same ETag for the same plants and Link, another for other plants. */
  readonly #isOfContent: AnswerCheck = (answer) => {
    const own = fieldOf(answer, 'etag')
    for (const page of this.#earlier) {
      const isSameEnd = fieldOf(page, 'link') === fieldOf(answer, 'link')
      const isSame = isSameEnd && canonical(jsonOf(page)) === canonical(jsonOf(answer))
      const hasSameEtag = fieldOf(page, 'etag') === own
      if (isSame && !hasSameEtag) return `the ETag is ${own}, although the page is one that had another`
      if (!isSame && hasSameEtag) return `the ETag is ${own}, as that of a page with other plants or another Link`
    }
    return undefined
  }
}
