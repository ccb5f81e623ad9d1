// Parses and validates the input of an operation: its body and its parameters.

import { MIMEType } from 'node:util'
import { type Contract, compiledValidator } from '../contract/contract.ts'
import type { Operation, OperationId, Parameter } from '../contract/document.ts'
import { isObject, type Schema } from '../contract/schemas.ts'
import { AppError, type ErrorCode } from '../domain/errors.ts'
import type { Plant, Preconditions, Revisions } from '../domain/plant.ts'
import { decodeJson } from '../json/decode.ts'
import type { Input } from './operations.ts'
import type { Fields } from './request.ts'

const mediaTypeCharactersMax = 256

/** Checks the type and the coding of a body before it is read. */
export function checkBodyFields(fields: Fields): void {
  checkMediaType(fields['content-type'])
  checkContentEncoding(fields['content-encoding'])
}

/** Reads the input of a request. @param body its bytes, if any. @throws AppError for invalid input. */
export type ReadInput = (
  { params, query }: { readonly params: Readonly<Record<string, string>>; readonly query: string },
  headers: Fields,
  body: Buffer | undefined,
) => Input<OperationId>

export function compileInput(contract: Contract, operation: Operation, jsonDepthMax: number): ReadInput {
  const readPath = compileParameters(operation, 'path', 'invalidParameter')
  const readQuery = compileParameters(operation, 'query', 'invalidParameter')
  const readHeaders = compileParameters(operation, 'header', 'invalidHeader')
  const readBody = compileBody(contract, operation, jsonDepthMax)
  const known = operation.parameters.filter(({ place }) => place === 'query').map(({ name }) => name)
  return ({ params, query }, headers, body) => {
    const path = readPath(params)
    return {
      path,
      // A query is ignored if the document defines none for the operation.
      query: known.length > 0 ? readQuery(parseQuery(query, known)) : {},
      headers: readHeaders(headers),
      body: readBody(body, path),
    } as Input<OperationId>
  }
}

/** Every body is a plant. If the path has an id, it is the plant's id. */
function compileBody(
  contract: Contract,
  { body, parameters }: Operation,
  jsonDepthMax: number,
): (bytes: Buffer | undefined, path: Readonly<Record<string, unknown>>) => Plant | undefined {
  if (body === undefined) return () => undefined
  const hasId = parameters.some(({ place, name }) => place === 'path' && name === 'id')
  return (bytes, { id }) => {
    if (bytes === undefined || bytes.length === 0) throw new AppError('invalidJson', 'the body is empty')
    const value = decodeJson(bytes, jsonDepthMax)
    return contract.readPlant(hasId && isObject(value) ? { ...value, id } : value)
  }
}

/** Compiles a function that reads the parameters of one place: converts integers, and validates each value. */
function compileParameters(
  operation: Operation,
  place: Parameter['place'],
  error: ErrorCode,
): (texts: Readonly<Record<string, string | undefined>>) => Record<string, unknown> {
  const parameters = operation.parameters
    .filter((parameter) => parameter.place === place)
    .map((parameter) => ({
      name: parameter.name,
      field: place === 'header' ? parameter.name.toLowerCase() : parameter.name,
      required: parameter.required,
      convert: converterOf(parameter.schema),
      validate: compiledValidator(`${operation.id} ${place} ${parameter.name}`, parameter.name),
    }))
  return (texts) => {
    const values: Record<string, unknown> = {}
    for (const { name, field, required, convert, validate } of parameters) {
      const text = texts[field]
      if (text === undefined && !required) continue
      if (text === undefined) throw new AppError(error, `${name}: is missing`)
      const value = convert === undefined ? text : parseInteger(text)
      const wrong = validate(value)
      if (wrong !== undefined) throw new AppError(error, wrong)
      values[name] = convert === undefined ? value : convert(value as bigint)
    }
    return values
  }
}

/** Only an int64 stays a bigint. */
function converterOf({ type, format }: Schema): ((value: bigint) => bigint | number) | undefined {
  if (type !== 'integer') return undefined
  return format === 'int64' ? (value) => value : Number
}

/** Converts a text written like a JSON integer. The validator rejects any other text. */
function parseInteger(text: string): bigint | string {
  return /^(?:0|-?[1-9][0-9]{0,18})$/.test(text) ? BigInt(text) : text
}

/** Parses the query of a list operation: each parameter at most once, and no unknown one. */
function parseQuery(query: string, known: readonly string[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const pair of query.split('&').filter((text) => text !== '')) {
    const [name = '', ...rest] = pair.split('=').map(decodeQueryText)
    if (!known.includes(name)) {
      throw new AppError('invalidParameter', `${shown(name)}: is not a parameter here, only ${known.join(', ')}`)
    }
    if (Object.hasOwn(texts, name)) throw new AppError('invalidParameter', `${name}: must be sent once`)
    texts[name] = rest.join('=')
  }
  return texts
}

function decodeQueryText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new AppError('invalidParameter', 'the query is not valid percent-encoded UTF-8')
  }
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 60))
}

/** If-Match uses strong comparison, If-None-Match weak (RFC 9110, sections 13.1.1 and 13.1.2). */
export function toPreconditions(ifMatch: string | undefined, ifNoneMatch: string | undefined): Preconditions {
  return {
    ifMatch: ifMatch === undefined ? undefined : toRevisions(ifMatch, 'strong'),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : toRevisions(ifNoneMatch, 'weak'),
  }
}

/** Strong comparison ignores weak ETags. */
function toRevisions(list: string, comparison: 'strong' | 'weak'): Revisions {
  if (list === '*') return list
  // The common case: one strong ETag.
  if (list.startsWith('"') && list.indexOf('"', 1) === list.length - 1) return [list.slice(1, -1)]
  return [...list.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag = '']) =>
    weak === undefined || comparison === 'weak' ? [tag] : [],
  )
}

/** JSON defines no charset (RFC 8259, sections 8.1 and 11); `charset=utf-8` is accepted all the same. */
function checkMediaType(contentType: string | undefined): void {
  if (contentType === 'application/json') return
  if (contentType === undefined) {
    throw new AppError('unsupportedMediaType', 'Content-Type: must be application/json, but is missing')
  }
  if (contentType.length > mediaTypeCharactersMax) {
    throw new AppError('unsupportedMediaType', `Content-Type: must have at most ${mediaTypeCharactersMax} characters`)
  }
  const type = parseMediaType(contentType)
  const got = JSON.stringify(contentType)
  if (type?.essence !== 'application/json') {
    throw new AppError('unsupportedMediaType', `Content-Type: must be application/json, got ${got}`)
  }
  if ((type.params.get('charset') ?? 'utf-8').toLowerCase() !== 'utf-8') {
    throw new AppError('unsupportedMediaType', `Content-Type: the charset must be utf-8, got ${got}`)
  }
}

function checkContentEncoding(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity') return
  const got = JSON.stringify(contentEncoding.slice(0, 60))
  throw new AppError('unsupportedContentEncoding', `Content-Encoding: the body must not be compressed, got ${got}`)
}

function parseMediaType(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text)
  } catch {
    return undefined
  }
}
