// Streams of changes as Server-Sent Events (WHATWG HTML, section 9.2). All streams at one position share one read of the
// log, so that a thousand of them cost little more than one.

import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../domain/caller.ts'
import type { ChangeKind, ChangePage, LoggedChange } from '../domain/change.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError, codeOf } from '../domain/errors.ts'
import type { ChangeStore } from '../domain/store.ts'
import type { Limits } from '../limits.ts'
import type { LargeAnswers } from './wire/large-answers.ts'
import { onceClosed } from './wire/parser-socket.ts'

/** How soon clients should reconnect. */
const retryMs = 1_000
/** Streams that are written to before a pause, so that requests are served meanwhile. */
const streamsOfTurn = 20
const pauseMs = 1

export interface NewStream {
  readonly response: ServerResponse
  /** Throws, or rejects with, AppError if the credential is not valid any more. */
  readonly reidentify: () => Caller | Promise<Caller>
  readonly kind: ChangeKind | undefined
  /** The first change, if there is one; `next` is where the stream goes on. */
  readonly page: ChangePage
}

interface Stream extends Pick<NewStream, 'response' | 'reidentify' | 'kind'> {
  position: string
  writtenMs: number
}

export class ChangeStreams {
  readonly #store: Pick<ChangeStore, 'listChanges'>
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #unread: Pick<LargeAnswers, 'count' | 'forget' | 'isFull'>
  readonly #streams = new Set<Stream>()
  /** Places that are taken, by streams and by requests that will have one. */
  #places = 0
  readonly #placesOfCaller = new Map<string, number>()
  #running: Promise<void> | undefined
  #isEnded = false
  /** Ends the pause between two looks at the log. */
  #wake = (): void => {}

  /** @param unread counts the bytes that wait to be read, over all connections. */
  constructor(
    store: Pick<ChangeStore, 'listChanges'>,
    clock: Clock,
    limits: Limits,
    unread: Pick<LargeAnswers, 'count' | 'forget' | 'isFull'>,
  ) {
    this.#store = store
    this.#clock = clock
    this.#limits = limits
    this.#unread = unread
  }

  get count(): number {
    return this.#streams.size
  }

  /**
   * Takes a place for a stream, before anything is awaited for it.
   *
   * @param onClosed registers what gives the place back; called only if there is one.
   * @throws AppError `tooManyStreams`, `overloaded` or `shuttingDown` if there is no place.
   */
  reserve({ id }: Caller, onClosed: (giveBack: () => void) => void): void {
    const { changeStreamsMax, changeStreamsOfCallerMax } = this.#limits
    if (this.#isEnded) throw new AppError('shuttingDown', 'the server is shutting down')
    const ofCaller = this.#placesOfCaller.get(id) ?? 0
    if (ofCaller >= changeStreamsOfCallerMax) {
      throw new AppError('tooManyStreams', `this token has ${changeStreamsOfCallerMax} streams; end one of them`)
    }
    if (this.#places >= changeStreamsMax) {
      throw new AppError('overloaded', `there are more than the ${changeStreamsMax} streams allowed; try again`)
    }
    this.#places += 1
    this.#placesOfCaller.set(id, ofCaller + 1)
    onClosed(() => {
      this.#places -= 1
      const left = (this.#placesOfCaller.get(id) ?? 1) - 1
      if (left === 0) this.#placesOfCaller.delete(id)
      else this.#placesOfCaller.set(id, left)
    })
  }

  /** Adds a stream that has a place, and whose head is sent. */
  add({ response, reidentify, kind, page }: NewStream): void {
    const { socket } = response.req
    // The client has left meanwhile.
    if (socket.destroyed || socket.readableEnded) {
      response.destroy()
      return
    }
    const stream = { response, reidentify, kind, position: page.next, writtenMs: 0 }
    this.#streams.add(stream)
    onceClosed(response, () => {
      this.#streams.delete(stream)
      this.#unread.forget(response)
    })
    this.#write(stream, `retry: ${retryMs}\n\n${eventsOf(page.changes, kind) || `id: ${page.next}\n\n`}`)
    if (this.#isEnded) response.end()
    else this.#running ??= this.#run()
    if (!page.isLast) this.#wake()
  }

  /** Ends all streams in order, and accepts no more. */
  end(): void {
    this.#isEnded = true
    for (const { response } of this.#streams) response.end()
  }

  /** Runs while there are streams. */
  async #run(): Promise<void> {
    let checkedMs = this.#clock.monotonicMs()
    while (this.#streams.size > 0 && !this.#isEnded) {
      const isBehind = await this.#writeChanges()
      if (this.#clock.monotonicMs() - checkedMs >= this.#limits.changeStreamCheckMs) {
        checkedMs = this.#clock.monotonicMs()
        await this.#check()
        this.#comment()
      }
      if (isBehind) await nextTurn()
      else await this.#pause()
    }
    this.#running = undefined
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, this.#limits.changeStreamPollMs).unref()
    })
  }

  /** Writes one page to each stream. Returns whether more is known to follow. */
  async #writeChanges(): Promise<boolean> {
    let isBehind = false
    for (const [position, streams] of Map.groupBy(this.#findReaders(), (stream) => stream.position)) {
      const page = await this.#read(position, streams)
      if (page !== undefined && page.next !== position) {
        await this.#writePage(page, streams)
        isBehind ||= !page.isLast
        await nextTurn()
      }
    }
    return isBehind
  }

  /** The streams of which little enough is unread, each by itself and all together. */
  #findReaders(): readonly Stream[] {
    for (const { response } of this.#streams) this.#unread.count(response, response.writableLength)
    if (this.#unread.isFull) return []
    const { changeStreamUnreadBytesMax } = this.#limits
    return [...this.#streams].filter(({ response }) => response.writableLength < changeStreamUnreadBytesMax)
  }

  async #read(after: string, streams: readonly Stream[]): Promise<ChangePage | undefined> {
    const { changeStreamPage: limit, changeStreamUnreadBytesMax: charactersMax } = this.#limits
    try {
      return await this.#store.listChanges({ after, kind: undefined, limit, charactersMax })
    } catch (error) {
      // The position was swept, or the store restored. Clients that reconnect are told.
      if (codeOf(error) === 'positionGone') for (const { response } of streams) response.end()
      // Otherwise try again: the store may be away for a while.
      return undefined
    }
  }

  async #writePage({ changes, next }: ChangePage, streams: readonly Stream[]): Promise<void> {
    for (const [kind, ofKind] of Map.groupBy(streams, (stream) => stream.kind)) {
      // All streams share these bytes.
      const events = Buffer.from(eventsOf(changes, kind))
      for (const [index, stream] of ofKind.entries()) {
        // It gets this page later.
        if (events.length > 0 && this.#unread.isFull) break
        stream.position = next
        if (events.length > 0) this.#write(stream, events)
        if (index % streamsOfTurn === streamsOfTurn - 1) await sleep(pauseMs)
      }
    }
  }

  /** Shows clients that the stream is alive, and how far it is. */
  #comment(): void {
    const { changeStreamCommentMs } = this.#limits
    const nowMs = this.#clock.monotonicMs()
    for (const stream of this.#streams) {
      if (nowMs - stream.writtenMs < changeStreamCommentMs - this.#limits.changeStreamCheckMs) continue
      this.#write(stream, `:\nid: ${stream.position}\n\n`)
    }
  }

  /** Ends the streams whose credential is not valid any more. */
  async #check(): Promise<void> {
    for (const streams of Map.groupBy(this.#streams, ({ response }) => response.req.headers.authorization).values()) {
      try {
        await streams[0]?.reidentify()
      } catch (error) {
        const isInvalid = error instanceof AppError && ['invalidToken', 'insufficientScope'].includes(error.code)
        if (isInvalid) for (const { response } of streams) response.end()
      }
    }
  }

  #write(stream: Stream, text: string | Uint8Array): void {
    const { response } = stream
    if (response.destroyed || response.writableEnded) return
    stream.writtenMs = this.#clock.monotonicMs()
    response.write(text)
    this.#unread.count(response, response.writableLength)
  }
}

/** Neither a position nor JSON has a line break. */
function eventsOf(changes: readonly LoggedChange[], kind: ChangeKind | undefined): string {
  return changes
    .filter((change) => kind === undefined || change.kind === kind)
    .map((change) => `id: ${change.position}\nevent: plant.${change.kind}\ndata: ${change.json}\n\n`)
    .join('')
}
