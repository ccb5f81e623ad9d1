// The messages between a test's thread and the thread of its servers.

import type { NewPlant } from '../client/client.ts'
import type { Scope } from '../domain/caller.ts'
import type { Fault } from './fault.ts'

/** The calls to the thread and their results. `server` is the number passed to `start`. */
export interface Calls {
  start: { readonly asked: Asked; readonly answer: Started }
  makeToken: { readonly asked: readonly Scope[]; readonly answer: string }
  fail: { readonly asked: Fault; readonly answer: undefined }
  reset: { readonly asked: undefined; readonly answer: undefined }
  stop: { readonly asked: undefined; readonly answer: undefined }
}

export interface Asked {
  readonly file: string
  readonly document: string | undefined
  readonly plants: readonly NewPlant[]
}

export interface Started {
  readonly url: string
  readonly token: string
}

export interface CallMessage<Name extends keyof Calls = keyof Calls> {
  readonly number: number
  readonly server: number
  readonly name: Name
  readonly asked: Calls[Name]['asked']
}

export type Reply =
  | { readonly number: number; readonly answer: unknown; readonly failure?: undefined }
  | { readonly number: number; readonly failure: string }
