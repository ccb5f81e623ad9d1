// ETags of pages: equal exactly for equal pages, so that a client that polls gets 304 until something changes.

import { field, hasNoBody, refusal, sameField, status } from '../checks.ts'
import { fieldOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import type { Check, Circumstances, OneStep, Row } from '../row.ts'
import { call, create, put, remove, row, type Source } from './building.ts'
import { etagForm, withEtagOf } from './etags.ts'
import { among, list, neighbours } from './listing.ts'

const source: Source = {
  document: 'a page has an ETag, which covers its plants and its Link; If-None-Match gets 304 while it is the same',
  where: 'listPlants',
}

export function pageEtagRow({ ids, nonce }: Circumstances): Row {
  const tag = `etags of pages ${nonce}`
  const [one, other, late] = neighbours(ids, 3, { name: 'n', tag })
  if (one === undefined || other === undefined || late === undefined) throw new TypeError('there are three')
  const target = `/plants?${among(tag)}&limit=1000`
  const page = (checks: readonly Check[], headers: RowRequest['headers'] = {}): OneStep =>
    call('GET', target, checks, headers)
  const now = page([status(200), field('ETag', etagForm), isOfContent])
  const changed = [now, withEtagOf(first, page([isAsTheOneBefore]), 'If-None-Match')]
  const unchanged = page([status(304), hasNoBody, sameField('ETag', first)])
  return row(
    'the ETag of a page changes with the page, and If-None-Match gets 304 until then',
    source,
    [one.id, other.id, late.id],
    create(one),
    create(other),
    now,
    ...['{}', 'W/{}', '"x", {}'].map((value) => withEtagOf(first, unchanged, 'If-None-Match', value)),
    withEtagOf(first, { ...unchanged, request: { method: 'HEAD', target } }, 'If-None-Match'),
    page([status(304), hasNoBody], { 'If-None-Match': '*' }),
    page([status(200), isOfContent], { 'If-None-Match': '"x"' }),
    page(refusal('invalidHeader'), { 'If-None-Match': 'x' }),
    put(one.id, plantJson(one.id, 'm', tag).replace(/"id":-?\d+,/, ''), [status(200)]),
    ...changed,
    list(among(tag), [{ ...one, name: 'm' }, other]),
    create(late),
    ...changed,
    list(among(tag), [{ ...one, name: 'm' }, other, late]),
    remove(late.id, [status(204)]),
    remove(other.id, [status(204)]),
    ...changed,
    list(among(tag), [{ ...one, name: 'm' }]),
    create(other),
    put(one.id, plantJson(one.id, 'n', tag).replace(/"id":-?\d+,/, ''), [status(200)]),
    now,
  )
}

/** The step that reads the first page. */
const first = 2

/** Compared with all pages before: the same ETag for the same plants and Link, another for other plants. */
const isOfContent: Check = (answer, before) => {
  const own = fieldOf(answer, 'etag')
  const pages = before.filter(({ status, body }) => status === 200 && body[0] === openingBracket)
  for (const page of pages) {
    const isSame = page.body.equals(answer.body)
    const isSameEnd = fieldOf(page, 'link') === fieldOf(answer, 'link')
    const hasSameEtag = fieldOf(page, 'etag') === own
    if (isSame && isSameEnd && !hasSameEtag) return `the ETag is ${own}, although the page is one that had another`
    if (!isSame && hasSameEtag) return `the ETag is ${own}, as that of a page with other plants`
  }
  return undefined
}

/** A page that begins with other plants than the changed ones, such as none, is still the first one. */
const isAsTheOneBefore: Check = (answer, before) => {
  const wanted = fieldOf(before.at(-1) ?? answer, 'etag') === fieldOf(before[first] ?? answer, 'etag') ? 304 : 200
  return status(wanted)(answer)
}

const openingBracket = '['.charCodeAt(0)
