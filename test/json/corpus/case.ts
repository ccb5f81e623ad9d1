// What a case of the corpus is, and short ways to write one down. What is right is written by hand, from RFC 8259.

import type { NewPlant } from '../../../src/domain/plant.ts'
import type { JsonValue } from '../../../src/json/decode.ts'

export interface Case {
  readonly name: string
  /** The body, as it is sent. */
  readonly bytes: Buffer
  readonly outcome: Outcome
  /** Where it is not as JSON.parse has it, and why that is meant to be. */
  readonly differs?: Difference
}

export type Outcome =
  /** JSON, and a plant that is kept as `plant`. */
  | { readonly answer: 200; readonly value: JsonValue; readonly plant: NewPlant }
  /** JSON, but no plant. */
  | { readonly answer: 40002; readonly value: JsonValue }
  /**
   * Not JSON; `at` is the byte that the message names: where the grammar is broken, the first that no JSON text could
   * have there, or the length of what ends too early.
   */
  | { readonly answer: 40001; readonly at: number; readonly message?: RegExp }

export type Difference =
  /** JSON.parse lets the last one win. */
  | 'repeated key'
  /** JSON.parse has no bound. */
  | 'nesting'
  /** JSON.parse is given a text, in which broken characters were replaced. */
  | 'not UTF-8'
  /** JSON.parse rounds. */
  | 'exact integer'
  /** JSON.parse has -0; an integer has no sign when it is zero. */
  | 'no negative zero'

/** Before a value in the member of a plant that the contract does not know. */
const before = '{"id":1,"name":"n","x":'

export function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}

/** A whole body that is not JSON. */
export function broken(name: string, body: string | Buffer, at: number, message?: RegExp): Case {
  return { name, bytes: Buffer.from(body), outcome: { answer: 40001, at, ...(message && { message }) } }
}

/** A value that is not JSON, in an otherwise valid plant; `at` counts from the beginning of the value. */
export function brokenValue(name: string, value: string | Buffer, at: number, message?: RegExp): Case {
  const body = Buffer.concat([Buffer.from(before), Buffer.from(value), Buffer.from('}')])
  return broken(name, body, before.length + at, message)
}

/** A whole body that is JSON, but no plant. */
export function noPlant(name: string, body: string | Buffer, value: JsonValue): Case {
  return { name, bytes: Buffer.from(body), outcome: { answer: 40002, value } }
}

/** A valid value, in a member of a plant that the contract does not know and that is passed over. */
export function goodValue(name: string, text: string | Buffer, x: JsonValue): Case {
  const body = Buffer.concat([Buffer.from(before), Buffer.from(text), Buffer.from('}')])
  const plant = { id: 1n, name: 'n' }
  return { name, bytes: body, outcome: { answer: 200, value: { ...plant, x }, plant } }
}

/** A whole body that is a plant, with more members than the contract knows where `value` has them. */
export function goodPlant(name: string, body: string | Buffer, plant: NewPlant, value?: JsonValue): Case {
  return { name, bytes: Buffer.from(body), outcome: { answer: 200, value: value ?? { ...plant }, plant } }
}

/** An id that is an int64, however it is written. */
export function goodId(name: string, literal: string, id: bigint): Case {
  return goodPlant(name, `{"id":${literal},"name":"n"}`, { id, name: 'n' })
}

/** An id that is a JSON value, but no int64. */
export function wrongId(name: string, literal: string, id: JsonValue): Case {
  return noPlant(name, `{"id":${literal},"name":"n"}`, { id, name: 'n' })
}

/** Says of cases in which way all of them are meant not to be as JSON.parse has them. */
export function differing(differs: Difference, cases: readonly Case[]): Case[] {
  return cases.map((each) => ({ ...each, differs }))
}
