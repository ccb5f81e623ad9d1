// Runs cases of the framing corpus, or random pieces of them, and returns the deviations from the design.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorNumbers } from '../../../src/domain/errors.ts'
import type { Random } from '../../power-loss/random.ts'
import type { HttpResponse } from '../../support/conformance.ts'
import { type FramingCase, framingCorpus, head, host, type Outcome, type Step, token } from './corpus.ts'
import { Wire } from './wire.ts'

/** Limits that a test can afford to wait for. */
export const framingLimits = {
  headersMsMax: 1_000,
  requestMsMax: 1_400,
  connectionCheckMs: 50,
  keepAliveMsMax: 1_000,
  lingerMsMax: 200,
  unreadMsMax: 1_500,
  answeringMsMax: 1_500,
} as const

/**
 * A connection that was in use may wait for its next request, and says nothing when it waited too long. And a client on
 * Node.js cannot reset what it has ended, once the connection is made: it would never end its process.
 */
const ofFirstRequests: readonly string[] = ['nothing at all', 'empty lines without end', 'a reset after an end']

/** What breaks behind a head whose answer does not wait for it: which comes first depends on the packets. */
export const ofOnePacket: readonly string[] = ['the same where no body is wanted']

type Cut = (bytes: Buffer) => readonly Buffer[]

const whole: Cut = (bytes) => [bytes]
const piecesMax = 6
const patienceMs = 20_000

/** Each case gets ids of its own. */
export class FramingRunner {
  readonly #target: { readonly port: number; readonly token: string }
  #lastId = 100_000_000
  #lastCanary = 0

  constructor(target: { readonly port: number; readonly token: string }) {
    this.#target = target
  }

  /**
   * Runs a case. Gives what was wrong, if anything.
   *
   * @param mayBeSecond whether something goes before it on its connection, if it is not about the first request of one.
   * @param cut what makes packets of what is sent at once.
   */
  async run({ name, steps, answers: expected, fate, heads }: FramingCase, mayBeSecond = false, cut: Cut = whole) {
    const isSecond = mayBeSecond && !ofFirstRequests.includes(name)
    using wire = new Wire(this.#target.port, isSecond ? [] : heads, patienceMs)
    if (isSecond) {
      wire.socket.write(this.#fill(head('GET /plants/1 HTTP/1.1', host, token)))
      await wire.untilAnswers(1)
      wire.answers = []
      wire.heads = heads
    }
    for (const step of steps) await this.take(step, wire, cut)
    // Answers may be missing, but those that came are the first of those expected.
    if (fate === 'left') return judge(wire.answers, expected.slice(0, wire.answers.length), [])
    await wire.untilAnswers(expected.length)
    this.#lastCanary += 1
    const path = fate === 'goesOn' ? `/canary-${this.#lastCanary}` : '/smuggled'
    // What comes behind the last answer is thrown away.
    if (fate !== 'ends') wire.socket.write(head(`GET ${path} HTTP/1.1`, host))
    await (fate === 'goesOn' ? wire.untilAnswers(expected.length + 1) : wire.until(() => wire.hasEnded))
    const [canary, ...more] = fate === 'goesOn' ? wire.answers.splice(expected.length) : []
    const wrong = judge(wire.answers, expected, heads)
    if (wrong !== undefined) return wrong
    if (more.length > 0 || wire.rest !== '') return `after the answers: ${JSON.stringify(wire.rest)}`
    if (fate === 'goesOn') return canary?.body.includes(path) ? undefined : `then ${shown(canary)} for ${path}`
    if (!wire.hasEnded) return 'the connection was not ended'
    const isSaid = wire.answers.at(-1)?.headers.get('connection') === 'close'
    return fate === 'closes' && !isSaid ? 'the end was not said' : undefined
  }

  /** Does what the client of a case does. */
  async take(step: Step, wire: Wire, cut: Cut = whole): Promise<void> {
    if (typeof step === 'function') {
      await step(wire)
      return
    }
    for (const [index, piece] of cut(Buffer.isBuffer(step) ? step : this.#fill(step)).entries()) {
      if (index > 0) await new Promise((resolve) => setImmediate(resolve))
      wire.socket.write(piece)
    }
  }

  /** The bytes of a step, with a token and ids of their own. */
  #fill(text: string): Buffer {
    const filled = text.replaceAll('TOKEN', this.#target.token).replaceAll('#########', () => {
      this.#lastId += 1
      return String(this.#lastId)
    })
    return Buffer.from(filled, 'latin1')
  }
}

/** Cuts bytes into a few packets. */
export function cutUp(bytes: Buffer, random: Random): readonly Buffer[] {
  if (bytes.length < 2) return [bytes]
  const cuts = Array.from({ length: random.between(1, piecesMax) }, () => random.between(1, bytes.length - 1))
  const ends = [...new Set(cuts), bytes.length].sort((one, other) => one - other)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

function judge(
  answers: readonly HttpResponse[],
  expected: readonly Outcome[],
  heads: readonly number[],
): string | undefined {
  const told = answers.map((answer, index) => toldBy(answer, heads.includes(index)))
  const wanted = expected.map((outcome, index) => wantedBy(outcome, heads.includes(index)))
  if (told.join() === wanted.join()) return undefined
  return `got [${told}] instead of [${wanted}]; last: ${shown(answers.at(-1))}`
}

/** An answer by its status, an error by its number; how it is written, too, when that is wrong. */
function toldBy({ status, headers, body }: HttpResponse, isHead: boolean): string {
  const isError =
    headers.get('content-type') === 'application/json' &&
    headers.has('date') &&
    /^\w+-\w+$/.test(headers.get('x-request-id') ?? '') &&
    (isHead || headers.get('content-length') === String(Buffer.byteLength(body)))
  const isRight = status === 100 || (headers.get('x-content-type-options') === 'nosniff' && (status < 400 || isError))
  if (!isRight) return `${status} with ${JSON.stringify([...headers])}`
  return String(status < 400 || isHead ? status : JSON.parse(body).error)
}

function wantedBy(outcome: Outcome, isHead: boolean): string {
  if (typeof outcome === 'number') return String(outcome)
  return String(isHead ? Math.floor(errorNumbers[outcome] / 100) : errorNumbers[outcome])
}

function shown(answer: HttpResponse | undefined): string {
  return `${answer?.status ?? 'no answer'} ${answer?.body.slice(0, 200)}`
}

const texts = framingCorpus
  .flatMap(({ steps }) => steps.filter((step) => typeof step === 'string'))
  .filter(({ length }) => length < 2_000)

/** The bytes that a client sends, in the pieces in which they arrive. */
export function drawPieces(random: Random, token: string): readonly Buffer[] {
  const chosen = Array.from({ length: 1 + random.below(3) }, () => random.pick(texts))
  const bytes = Buffer.from(chosen.join('').replaceAll('TOKEN', token).replaceAll('#########', '1'), 'latin1')
  const tail = random.below(8)
  const cuts = Array.from({ length: random.below(6) }, () => random.below(bytes.length + 1))
  // The last bytes are where requests end: each in a piece of its own, or none of them sent.
  const end = random.chance(0.2) ? bytes.length - Math.min(tail, bytes.length) : bytes.length
  const ends = random.chance(0.3) ? Array.from({ length: tail }, (_, index) => end - index) : []
  const at = [...cuts, ...ends].filter((cut) => cut > 0 && cut < end).sort((a, b) => a - b)
  return [...at, end].map((cut, index) => bytes.subarray(at[index - 1] ?? 0, cut)).filter((piece) => piece.length > 0)
}

/** Sends some pieces and does nothing more; gives after how long the server had ended the connection. */
export async function timeToEnd(port: number, pieces: readonly Buffer[], msMax: number): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  for (const end of ['error', 'end', 'close']) socket.on(end, () => resolve())
  socket.resume()
  for (const piece of pieces) {
    if (socket.destroyed) break
    socket.write(piece)
    await new Promise((turn) => setImmediate(turn))
  }
  const sentMs = performance.now()
  await Promise.race([ended, sleep(msMax, undefined, { ref: false })])
  socket.destroy()
  return performance.now() - sentMs
}
