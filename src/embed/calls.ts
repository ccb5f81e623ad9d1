// What a test's own thread and the thread of its servers say to each other.

import type { NewPlant } from '../client/client.ts'
import type { Scope } from '../domain/caller.ts'
import type { Fault } from './fault.ts'

/** What is asked of the thread, and what it answers. `server` is the number that `start` was given. */
export interface Calls {
  start: { readonly asked: { readonly file: string; readonly plants: readonly NewPlant[] }; readonly answer: Started }
  makeToken: { readonly asked: readonly Scope[]; readonly answer: string }
  fail: { readonly asked: Fault; readonly answer: undefined }
  reset: { readonly asked: undefined; readonly answer: undefined }
  stop: { readonly asked: undefined; readonly answer: undefined }
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
