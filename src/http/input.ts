// The input of an operation: its body, from header fields and bytes to a valid value, and its header parameters.

import type { IncomingHttpHeaders } from 'node:http'
import { MIMEType } from 'node:util'
import type { FastifyRequest } from 'fastify'
import type { Operation, OperationId } from '../contract/document.ts'
import { compileValidator } from '../contract/validate.ts'
import { AppError } from '../domain/errors.ts'
import { decodeJson } from '../json/decode.ts'
import type { Call } from './operations.ts'
import { bodyTooLarge } from './problems.ts'

export type Input = Pick<Call<OperationId>, 'body' | 'headers'>

export interface InputLimits {
  readonly bodyBytesMax: number
  readonly jsonDepthMax: number
  readonly mediaTypeCharactersMax: number
}

/** Judges a body by its header fields, before any of it is read: its type, its coding, its length. */
export function checkBodyHeaders(
  headers: IncomingHttpHeaders,
  { bodyBytesMax, mediaTypeCharactersMax }: InputLimits,
): void {
  checkMediaType(headers['content-type'], mediaTypeCharactersMax)
  checkContentEncoding(headers['content-encoding'])
  if (Number(headers['content-length'] ?? 0) > bodyBytesMax) throw bodyTooLarge(bodyBytesMax)
}

/** Compiles what reads and validates the body and the header parameters of an operation's requests. */
export function compileInput(operation: Operation, jsonDepthMax: number): (request: FastifyRequest) => Input {
  const validateBody = operation.body && compileValidator(operation.body, 'the body')
  const headers = operation.headers.map(({ name, required, schema }) => ({
    name,
    field: name.toLowerCase(),
    required,
    validate: compileValidator(schema, name),
  }))

  const readHeaders = (request: FastifyRequest): Record<string, string> => {
    const values: Record<string, string> = {}
    for (const { name, field, required, validate } of headers) {
      const value = request.headers[field]
      if (value === undefined && !required) continue
      if (value === undefined) throw new AppError('invalidHeader', `${name}: is missing`)
      const wrong = validate(value)
      if (wrong !== undefined) throw new AppError('invalidHeader', wrong)
      values[name] = String(value)
    }
    return values
  }

  const readBody = (request: FastifyRequest): unknown => {
    if (validateBody === undefined) return undefined
    const bytes = request.body
    if (!Buffer.isBuffer(bytes) || bytes.length === 0) throw new AppError('invalidJson', 'the body is empty')
    const value = decodeJson(bytes, jsonDepthMax)
    const wrong = validateBody(value)
    if (wrong !== undefined) throw new AppError('invalidPlant', wrong)
    return value
  }

  return (request) => ({ headers: readHeaders(request), body: readBody(request) as Input['body'] })
}

/** JSON is UTF-8 and has no charset parameter (RFC 8259, sections 8.1 and 11); one that says so all the same is let pass. */
function checkMediaType(contentType: string | undefined, charactersMax: number): void {
  if (contentType === 'application/json') return
  if (contentType === undefined) {
    throw new AppError('unsupportedMediaType', 'Content-Type: must be application/json, none came')
  }
  if (contentType.length > charactersMax) {
    throw new AppError('unsupportedMediaType', `Content-Type: must have at most ${charactersMax} characters`)
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
