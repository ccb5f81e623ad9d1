// Header fields of a create: the media type, and the precedence of errors.

import { type ErrorCode, statusOf } from '../../src/domain/errors.ts'
import { field, refusal } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import type { Check, Circumstances, Row } from '../row.ts'
import { create, forProxies, keptWith, needing, refused, row, type Source } from './building.ts'

const mediaType: Source = {
  document: 'a body must be uncompressed application/json in UTF-8; any other gets 415, which states what is accepted',
  where: 'createPlant, 415',
}

export function mediaTypeRows({ ids }: Circumstances): readonly Row[] {
  const accepted = (name: string, value: string): Row =>
    keptWith(`${name} ${value}`, mediaType, ids.next(), { headers: { [name]: value } })
  const bad = (title: string, headers: NonNullable<RowRequest['headers']>, checks: readonly Check[]): Row => {
    const id = ids.next()
    return row(title, mediaType, [id], { request: { body: plantJson(id, 'n'), headers }, checks })
  }
  const badTypeChecks = [...refusal('unsupportedMediaType'), field('Accept', 'application/json')]
  const badType = (type: string | undefined): Row =>
    bad(`Content-Type ${type?.slice(0, 40) ?? 'missing'}`, { 'Content-Type': type }, badTypeChecks)
  const codedChecks = [...refusal('unsupportedContentEncoding'), field('Accept-Encoding', 'identity')]
  const coded = (coding: string): Row => bad(`Content-Encoding ${coding}`, { 'Content-Encoding': coding }, codedChecks)
  return [
    accepted('Content-Type', 'application/json; charset=utf-8'),
    accepted('Content-Type', 'application/json;charset=UTF-8'),
    accepted('Content-Type', 'application/json; charset="utf-8"'),
    accepted('Content-Type', 'application/json; profile=x'),
    accepted('Content-Type', 'Application/JSON'),
    accepted('Content-Encoding', 'identity'),
    badType(undefined),
    badType(''),
    badType('text/plain'),
    badType('text/json'),
    badType('application/jsonx'),
    badType('application/vnd.api+json'),
    badType('application/json, text/plain'),
    badType('application/x-www-form-urlencoded'),
    badType('json'),
    badType('application/json; charset=iso-8859-1'),
    badType('application/json; charset=utf-16'),
    badType(`application/json; a=${'b'.repeat(300)}`),
    coded('gzip'),
    coded('br'),
    coded('identity, gzip'),
  ]
}

/** Limits and features of HTTP, which proxies have of their own. */
export function limitRows({ ids }: Circumstances): readonly Row[] {
  const refusedWith = (
    title: string,
    where: string,
    code: ErrorCode,
    headers: NonNullable<RowRequest['headers']>,
  ): Row => {
    const source = { document: `${where}: nothing is created`, where: `createPlant, ${statusOf(code)}` }
    return forProxies(refused(title, source, code, { headers }, ids.next()))
  }
  return [
    refusedWith('header fields of 20,000 bytes', 'header fields may be too long', 'headerFieldsTooLarge', {
      'X-Long': 'a'.repeat(20_000),
    }),
    refusedWith('a transfer coding that is not known', 'the transfer coding may be unknown', 'unknownTransferCoding', {
      'Content-Length': undefined,
      'Transfer-Encoding': 'gzip, chunked',
    }),
  ]
}

const both: Source = {
  document: 'of several errors in path, method, token and body, the response reports the first in this order',
  where: 'the description of the document',
}

/** Each request has two errors; the answer must report the one that is checked first. */
export function orderRows(circumstances: Circumstances): readonly Row[] {
  const { ids } = circumstances
  const first = (title: string, code: ErrorCode, request: RowRequest): Row =>
    refused(`order of refusals: ${title}`, both, code, request, ids.next())
  const body = 'no json'
  const noToken = { Authorization: undefined }
  const wrongType = { 'Content-Type': 'text/plain' }
  const wrongScope = { Authorization: 'Bearer $READ_ONLY_TOKEN' }
  const nowhere = { target: '/nowhere' }
  const taken = ids.next()
  return [
    first('the path before the method', 'unknownPath', { ...nowhere, method: 'DELETE', headers: noToken }),
    first('the path before the token', 'unknownPath', { ...nowhere, headers: noToken }),
    first('the method before the token', 'methodNotAllowed', { method: 'PATCH', headers: noToken }),
    first('the token before the media type', 'missingToken', { body, headers: { ...noToken, ...wrongType } }),
    first('the token before the body', 'missingToken', { body, headers: noToken }),
    needing(
      '$READ_ONLY_TOKEN',
      circumstances,
      first('the scope before the media type', 'insufficientScope', { body, headers: { ...wrongScope, ...wrongType } }),
    ),
    forProxies(
      row('order of refusals: the path before the expectation', both, [], {
        request: { ...nowhere, headers: { Expect: 'tea' } },
        checks: refusal('unknownPath'),
      }),
    ),
    row(
      'order of refusals: the key and the body before a taken id',
      both,
      [taken],
      create({ id: taken, name: 'n' }),
      {
        request: { body: plantJson(taken, 'n'), headers: { 'Idempotency-Key': 'a b' } },
        checks: refusal('invalidHeader'),
      },
      { request: { body: `{"id":${taken},"name":1}` }, checks: refusal('invalidPlant') },
    ),
  ]
}
