// What a handler takes and gives, derived from the types of the contract: one handler for each operation, by its name.

import type { Socket } from 'node:net'
import type { OperationId } from '../contract/document.ts'
import type { operations } from '../contract/types.ts'
import type { Caller } from '../domain/caller.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Scheme } from './wire/peers.ts'

/** One call of an operation: known caller, valid input. */
export interface Call<Id extends OperationId> {
  readonly path: Parameters<Id, 'path'>
  readonly query: Parameters<Id, 'query'>
  readonly headers: Parameters<Id, 'header'>
  readonly body: RequestBody<Id>
  /** The Accept field, if there was one. */
  readonly accept: string | undefined
  /** Undefined for operations that are open to all. */
  readonly caller: Caller | undefined
  /** Throws an AppError when an answer that takes a while to make is not wanted any more. */
  readonly assertWanted: () => void
  /** The host, and perhaps port, that the client asked, as it spelt them; undefined when it did not say (HTTP/1.0). */
  readonly host: string | undefined
  /** How the client reached the service, or the proxy before it. */
  readonly scheme: Scheme
}

/** What an operation answers when all is well; anything else is thrown as an AppError. */
export type Answer<Id extends OperationId> =
  | {
      readonly status: 200
      readonly headers?: AnswerHeaders
      /** The media type of the body, where the document has several; else it is the first. */
      readonly type?: string
      /** A string and bytes are sent as they are; anything else goes through the serialiser of its schema. */
      readonly body: SuccessBody<Id> | string | Uint8Array
    }
  | { readonly status: 204 | 304; readonly headers?: AnswerHeaders; readonly body?: undefined }

/** By lower-case name. */
type AnswerHeaders = Readonly<Record<string, string>>

export type Handlers = {
  readonly [Id in OperationId]: (call: Call<Id>) => Answer<Id> | Promise<Answer<Id>>
}

/** What the way to a handler has to know of an operation, besides what the document says. */
export interface Traits<Id extends OperationId> {
  /** What a valid call takes from `--rate-limit`: 1 unless said otherwise. An operation of 0 is never limited. */
  readonly units?: 0 | ((call: Pick<Call<Id>, 'query'>) => number)
  /** The error of a body that its schema refuses. */
  readonly invalidBody?: ErrorCode
  /** The plant that a call changes, for the event of its request. */
  readonly changedPlant?: (call: Pick<Call<Id>, 'path' | 'body'>) => bigint
  /** Its answers are small and come in one form, so that plain requests may go the short way. */
  readonly isSmall?: true
}

export type TraitsOf = { readonly [Id in OperationId]?: Traits<Id> }

/** Stands between an operation and its answer, and may keep it back or end the connection. */
export type Intercept = (
  operation: OperationId,
  answer: () => Answer<OperationId> | Promise<Answer<OperationId>>,
  socket: Socket,
) => Promise<Answer<OperationId>>

type Parameters<Id extends OperationId, Place extends 'path' | 'query' | 'header'> =
  NonNullable<operations[Id]['parameters'][Place]> extends infer Values
    ? [Values] extends [never]
      ? Record<never, never>
      : Values
    : never

type RequestBody<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Body } }
}
  ? Body
  : undefined

type SuccessBody<Id extends OperationId> = operations[Id] extends {
  responses: { 200: { content: infer Content } }
}
  ? Content[keyof Content]
  : undefined
