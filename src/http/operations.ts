// The input and output types of handlers, derived from the contract: one handler per operation, under its name.

import type { Socket } from 'node:net'
import type { OperationId } from '../contract/document.ts'
import type { operations } from '../contract/types.ts'
import type { Caller } from '../domain/caller.ts'
import type { Plant } from '../domain/plant.ts'
import type { ReplyStream, Request } from './request.ts'

/** The validated input of an operation. */
export interface Input<Id extends OperationId> {
  readonly path: Parameters<Id, 'path'>
  readonly query: Parameters<Id, 'query'>
  readonly headers: Parameters<Id, 'header'>
  readonly body: RequestBody<Id>
}

export interface Call<Id extends OperationId> extends Input<Id> {
  /** Its caller is identified, unless the operation is public. */
  readonly request: Readonly<Request>
  /** Throws AppError if a slow answer would be wasted: its client has left, or too many bytes wait to be read. */
  readonly assertWanted: () => void
}

/** The successful answer of an operation. Failures are thrown as AppError. */
export type Answer<Id extends OperationId> =
  | {
      readonly status: 200
      readonly headers?: AnswerHeaders
      /** The media type of the body; defaults to the first in the document. */
      readonly type?: string
      /**
       * Strings and bytes are sent unchanged, other values as JSON. The buffer of a list is detached once it is sent,
       * unless it also has other bytes.
       */
      readonly body: SuccessBody<Id> | string | Uint8Array<ArrayBuffer>
    }
  | { readonly status: 204 | 304; readonly headers?: AnswerHeaders; readonly body?: undefined }
  | {
      readonly status: 200
      readonly headers?: AnswerHeaders
      readonly type: string
      readonly body?: undefined
      /** Writes an endless body. The head of `stream` has been sent. */
      readonly stream: (stream: ReplyStream, credential: Credential) => void
    }

export interface Credential {
  readonly authorization: string | undefined
  /** Authenticates the caller again; throws, or rejects with, AppError if the credential is not valid any more. */
  readonly check: () => Caller | Promise<Caller>
}

/** By lower-case name. */
type AnswerHeaders = Readonly<Record<string, string>>

export type Handlers = {
  readonly [Id in OperationId]: (call: Call<Id>) => Answer<Id> | Promise<Answer<Id>>
}

/** Properties of an operation that the document does not express. */
export interface Traits<Id extends OperationId> {
  /** The units that a valid call costs under `--rate-limit`: 1 by default. Operations that cost 0 are never limited. */
  readonly units?: 0 | ((input: Pick<Input<Id>, 'query'>) => number)
  /** The plant that a call changes, for the log. */
  readonly changedPlant?: (input: Pick<Input<Id>, 'path' | 'body'>) => bigint
}

export type TraitsOf = { readonly [Id in OperationId]?: Traits<Id> }

/** Intercepts an operation's answer, and may delay it, reject with an AppError, or take over the socket. */
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

/** Every body is a plant. */
type RequestBody<Id extends OperationId> = operations[Id] extends { requestBody: object } ? Plant : undefined

type SuccessBody<Id extends OperationId> = operations[Id] extends {
  responses: { 200: { content: infer Content } }
}
  ? Content[keyof Content]
  : undefined
