// The input and output types of handlers, derived from the contract: one handler per operation, under its name.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { OperationId } from '../contract/document.ts'
import type { operations } from '../contract/types.ts'
import type { Caller } from '../domain/caller.ts'
import type { Plant } from '../domain/plant.ts'
import type { Scheme } from './wire/peers.ts'

/** One call of an operation, with its caller identified and its input validated. */
export interface Call<Id extends OperationId> {
  readonly path: Parameters<Id, 'path'>
  readonly query: Parameters<Id, 'query'>
  readonly headers: Parameters<Id, 'header'>
  readonly body: RequestBody<Id>
  /** The Accept field, if any. */
  readonly accept: string | undefined
  /** The Accept-Encoding field, if any. */
  readonly acceptEncoding: string | undefined
  /** Undefined for public operations. */
  readonly caller: Caller | undefined
  /** Throws AppError if the client no longer wants an answer that takes a while to produce. */
  readonly assertWanted: () => void
  /** Calls a listener once, when the answer is sent or its client has left. The client must not have left before. */
  readonly onClosed: (listener: () => void) => void
  /** The host, with optional port, as the client wrote it; undefined if absent (HTTP/1.0). */
  readonly host: string | undefined
  /** The scheme the client used, possibly to reach a proxy in front of the service. */
  readonly scheme: Scheme
}

/** The successful answer of an operation. Failures are thrown as AppError. */
export type Answer<Id extends OperationId> =
  | {
      readonly status: 200
      readonly headers?: AnswerHeaders
      /** The media type of the body; defaults to the first in the document. */
      readonly type?: string
      /**
       * Strings and bytes are sent unchanged, other values as JSON. Bytes of an operation that may take the shortcut have
       * a buffer of their own, which is detached once they are sent.
       */
      readonly body: SuccessBody<Id> | string | Uint8Array<ArrayBuffer>
    }
  | { readonly status: 204 | 304; readonly headers?: AnswerHeaders; readonly body?: undefined }
  | {
      readonly status: 200
      readonly headers?: AnswerHeaders
      readonly type: string
      readonly body?: undefined
      /** Writes a body that has no end. */
      readonly stream: WriteStream
    }

/**
 * @param response its head is sent.
 * @param reidentify authenticates the caller again; throws, or rejects with, AppError if the credential is not valid any
 * more.
 */
export type WriteStream = (response: ServerResponse, reidentify: () => Caller | Promise<Caller>) => void

/** By lower-case name. */
type AnswerHeaders = Readonly<Record<string, string>>

export type Handlers = {
  readonly [Id in OperationId]: (call: Call<Id>) => Answer<Id> | Promise<Answer<Id>>
}

/** Properties of an operation that the document does not express. */
export interface Traits<Id extends OperationId> {
  /** The cost of a valid call against `--rate-limit`: default 1. Operations of cost 0 are never limited. */
  readonly units?: 0 | ((call: Pick<Call<Id>, 'query'>) => number)
  /** The plant that a call changes, for the log. */
  readonly changedPlant?: (call: Pick<Call<Id>, 'path' | 'body'>) => bigint
  /** Its answers have one form, so that plain requests may take the shortcut. */
  readonly mayTakeShortcut?: true
}

export type TraitsOf = { readonly [Id in OperationId]?: Traits<Id> }

/** Intercepts an operation's answer, and may delay it, refuse with an AppError, or take over the connection. */
export type Intercept = (
  operation: OperationId,
  answer: () => Answer<OperationId> | Promise<Answer<OperationId>>,
  takeOver: TakeOver,
) => Promise<Answer<OperationId>>

/** Hands over the socket once all earlier requests of the connection are answered. */
export type TakeOver = (use: (socket: Socket) => void) => void

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
