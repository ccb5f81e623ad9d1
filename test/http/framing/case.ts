// What a case of the framing corpus is: what a client sends and does, which answers it gets, and what becomes of its
// connection.

import type { ErrorCode } from '../../../src/domain/errors.ts'

/** An answer: its status when it is none of the errors, else the name of the error. */
export type Outcome = 100 | 200 | 204 | ErrorCode

/** The client says that it sends nothing more, and reads on. */
export const finish = { kind: 'finish' } as const
/** The client resets its connection. */
export const reset = { kind: 'reset' } as const
/** The client reads nothing from now on. */
export const stopReading = { kind: 'stopReading' } as const

/** Waits until so many answers have come, 100s included. */
export interface Await {
  readonly kind: 'await'
  readonly answers: number
}

/** The same bytes again and again, until the server answers. */
export interface Drip {
  readonly kind: 'drip'
  readonly bytes: string
  readonly everyMs: number
}

/** A text is sent as latin1, with a token in the place of `TOKEN` and an unused id for each `#########`. */
export type Step = string | Buffer | typeof finish | typeof reset | typeof stopReading | Await | Drip

/**
 * What becomes of the connection:
 * - `goesOn`: its next request is answered.
 * - `closes`: the last answer says so, nothing more is answered, and the server ends it.
 * - `ends`: the same, but the last answer could not know or was not asked; the server ends it.
 * - `left`: the client is gone; it may have missed answers, but must not get others.
 */
export type Fate = 'goesOn' | 'closes' | 'ends' | 'left'

export interface FramingCase {
  readonly name: string
  readonly steps: readonly Step[]
  readonly answers: readonly Outcome[]
  readonly fate: Fate
  /** The places of the answers to HEAD among the others. */
  readonly heads?: readonly number[]
  /** It waits for a limit of the server, or takes it much work. */
  readonly isSlow?: boolean
}

type Steps = string | Buffer | readonly Step[]

/** Cases by name that have the same answers and the same fate. */
const toCases =
  (fate: Fate) =>
  (answers: readonly Outcome[], cases: Readonly<Record<string, Steps>>): FramingCase[] =>
    Object.entries(cases).map(([name, steps]) => {
      const list = typeof steps === 'string' || Buffer.isBuffer(steps) ? [steps] : steps
      return { name, steps: list, answers, fate }
    })

export const goesOn = toCases('goesOn')
export const closes = toCases('closes')
export const ends = toCases('ends')
export const left = toCases('left')

export function slow(cases: readonly FramingCase[]): FramingCase[] {
  return cases.map((each) => ({ ...each, isSlow: true }))
}

/** Cases whose answer at a place is that to a HEAD. */
export function ofHead(place: number, cases: readonly FramingCase[]): FramingCase[] {
  return cases.map((each) => ({ ...each, heads: [place] }))
}

export function answered(answers: number): Await {
  return { kind: 'await', answers }
}

export const host = 'Host: plants.example'
export const json = 'Content-Type: application/json'
export const token = 'Authorization: Bearer TOKEN'
export const chunkedBody = 'Transfer-Encoding: chunked'
export const waits = 'Expect: 100-continue'
/** As long as it is sent, whatever the id. */
export const plant = '{"id":#########,"name":"corpus"}'
export const plantLength = `Content-Length: ${plant.length}`

export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** The head of a GET of what is always there. */
export function livez(...lines: readonly string[]): string {
  return head('GET /livez HTTP/1.1', host, ...lines)
}

/** The head of a create by somebody who may. */
export function create(...lines: readonly string[]): string {
  return head('POST /plants HTTP/1.1', host, token, json, ...lines)
}

/** A create in chunks, with those given for its body. */
export function chunked(body: string): string {
  return `${create(chunkedBody)}${body}`
}

/** The head of a create by a stranger. */
export function strange(...lines: readonly string[]): string {
  return head('POST /plants HTTP/1.1', host, json, ...lines)
}

export function chunks(...pieces: readonly string[]): string {
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`
}

/** A whole create. */
export const wholeCreate = `${create(plantLength)}${plant}`

/** A request that must never be seen as one, wherever it is hidden. */
export const smuggled = head('GET /smuggled HTTP/1.1', host)
