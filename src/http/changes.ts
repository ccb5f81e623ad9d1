// The log of changes, in pages and as streams of Server-Sent Events (WHATWG HTML, section 9.2). All streams at one
// position share one read of the log, so that a thousand of them cost little more than one.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../domain/caller.ts'
import type { ChangeKind, ChangePage, LoggedChange } from '../domain/change.ts'
import type { Clock } from '../domain/clock.ts'
import { AppError, codeOf } from '../domain/errors.ts'
import type { ChangeStore } from '../domain/store.ts'
import type { Limits } from '../limits.ts'
import type { LargeAnswers } from './large-answers.ts'
import { prefers } from './negotiation.ts'
import type { Credential, Handlers, TraitsOf } from './operations.ts'
import type { ReplyStream, RequestConnection } from './request.ts'

/** How soon clients should reconnect. */
const retryMs = 1_000
/** Streams that are written to before a pause, so that requests are served meanwhile. */
const streamsOfTurn = 20
const pauseMs = 1

export interface NewStream {
  readonly stream: ReplyStream
  readonly credential: Credential
  readonly kind: ChangeKind | undefined
  /** The first change, if there is one; `next` is where the stream continues. */
  readonly page: ChangePage
}

interface Reader extends Pick<NewStream, 'stream' | 'credential' | 'kind'> {
  position: string
  writtenMs: number
}

export class ChangeStreams {
  readonly #store: Pick<ChangeStore, 'listChanges'>
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #unread: Pick<LargeAnswers, 'count' | 'forget' | 'isFull'>
  readonly #readers = new Set<Reader>()
  /** Places taken by streams, and by requests that will become streams. */
  #places = 0
  readonly #placesOfCaller = new Map<string, number>()
  #running: Promise<void> | undefined
  #isEnded = false
  /** Ends the pause between two reads of the log. */
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
    return this.#readers.size
  }

  /**
   * Reserves a place for a stream until its connection has finished. Call it before the first await.
   *
   * @throws AppError `tooManyStreams`, `overloaded` or `shuttingDown` if there is no place.
   */
  reserve({ id }: Caller, connection: RequestConnection): void {
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
    connection.onceDone(() => {
      this.#places -= 1
      const left = (this.#placesOfCaller.get(id) ?? 1) - 1
      if (left === 0) this.#placesOfCaller.delete(id)
      else this.#placesOfCaller.set(id, left)
    })
  }

  /** Adds a stream that has a place, and whose head is sent. */
  add({ stream, credential, kind, page }: NewStream): void {
    // The client has left in the meantime.
    if (stream.isOver) {
      stream.cut()
      return
    }
    const reader = { stream, credential, kind, position: page.next, writtenMs: 0 }
    this.#readers.add(reader)
    stream.onceDone(() => {
      this.#readers.delete(reader)
      this.#unread.forget(stream)
    })
    this.#write(reader, `retry: ${retryMs}\n\n${eventsOf(page.changes, kind) || `id: ${page.next}\n\n`}`)
    if (this.#isEnded) stream.end()
    else this.#running ??= this.#run()
    if (!page.isLast) this.#wake()
  }

  end(): void {
    this.#isEnded = true
    for (const { stream } of this.#readers) stream.end()
  }

  async #run(): Promise<void> {
    let checkedMs = this.#clock.monotonicMs()
    while (this.#readers.size > 0 && !this.#isEnded) {
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

  /** Writes one page to each stream. Returns whether more pages follow at once. */
  async #writeChanges(): Promise<boolean> {
    let isBehind = false
    for (const [position, readers] of Map.groupBy(this.#findReady(), (reader) => reader.position)) {
      const page = await this.#read(position, readers)
      if (page !== undefined && page.next !== position) {
        await this.#writePage(page, readers)
        isBehind ||= !page.isLast
        await nextTurn()
      }
    }
    return isBehind
  }

  /** The readers with little enough unread output, individually and in total. */
  #findReady(): readonly Reader[] {
    for (const { stream } of this.#readers) this.#unread.count(stream, stream.unreadBytes)
    if (this.#unread.isFull) return []
    const { changeStreamUnreadBytesMax } = this.#limits
    return [...this.#readers].filter(({ stream }) => stream.unreadBytes < changeStreamUnreadBytesMax)
  }

  async #read(after: string, readers: readonly Reader[]): Promise<ChangePage | undefined> {
    const { changeStreamPage: limit, changeStreamUnreadBytesMax: charactersMax } = this.#limits
    try {
      return await this.#store.listChanges({ after, kind: undefined, limit, charactersMax })
    } catch (error) {
      // The position was swept, or the store restored. Clients that reconnect get a 410.
      if (codeOf(error) === 'positionGone') for (const { stream } of readers) stream.end()
      // Otherwise try again: the store may be away for a while.
      return undefined
    }
  }

  async #writePage({ changes, next }: ChangePage, readers: readonly Reader[]): Promise<void> {
    for (const [kind, ofKind] of Map.groupBy(readers, (reader) => reader.kind)) {
      // All streams share these bytes.
      const events = Buffer.from(eventsOf(changes, kind))
      for (const [index, reader] of ofKind.entries()) {
        // This client gets the page later.
        if (events.length > 0 && this.#unread.isFull) break
        reader.position = next
        if (events.length > 0) this.#write(reader, events)
        if (index % streamsOfTurn === streamsOfTurn - 1) await sleep(pauseMs)
      }
    }
  }

  /** Shows clients that the stream is alive, and its position. */
  #comment(): void {
    const { changeStreamCommentMs } = this.#limits
    const nowMs = this.#clock.monotonicMs()
    for (const reader of this.#readers) {
      if (nowMs - reader.writtenMs < changeStreamCommentMs - this.#limits.changeStreamCheckMs) continue
      this.#write(reader, `:\nid: ${reader.position}\n\n`)
    }
  }

  /** Ends the streams whose credential is not valid any more. */
  async #check(): Promise<void> {
    for (const readers of Map.groupBy(this.#readers, ({ credential }) => credential.authorization).values()) {
      try {
        await readers[0]?.credential.check()
      } catch (error) {
        const isInvalid = error instanceof AppError && ['invalidToken', 'insufficientScope'].includes(error.code)
        if (isInvalid) for (const { stream } of readers) stream.end()
      }
    }
  }

  #write(reader: Reader, text: string | Uint8Array): void {
    const { stream } = reader
    if (stream.isOver) return
    reader.writtenMs = this.#clock.monotonicMs()
    stream.write(text)
    this.#unread.count(stream, stream.unreadBytes)
  }
}

/** Neither a position nor JSON has a line break. */
function eventsOf(changes: readonly LoggedChange[], kind: ChangeKind | undefined): string {
  return changes
    .filter((change) => kind === undefined || change.kind === kind)
    .map((change) => `id: ${change.position}\nevent: plant.${change.kind}\ndata: ${change.json}\n\n`)
    .join('')
}

const pageChangesDefault = 100

/** Units of a page that may have to search for its changes; see plants.ts. */
const searchUnits = 100
/** One unit pays for this many changes in a page. */
const changesOfUnit = 5

export const changeTraits: TraitsOf = {
  listChanges: {
    units: ({ query: { kind, limit = pageChangesDefault } }) =>
      (kind === undefined ? 1 : searchUnits) + Math.floor(limit / changesOfUnit),
  },
}

/** @param basePath as in `plantHandlers`. */
export function changeHandlers(
  store: ChangeStore,
  streams: ChangeStreams,
  basePath = '',
): Pick<Handlers, 'listChanges'> {
  return {
    async listChanges({ query, headers, request, assertWanted }) {
      const { caller, connection, fields } = request
      const { kind, limit = pageChangesDefault } = query
      const after = headers['Last-Event-ID'] ?? query.after
      if (prefers('text/event-stream', fields['accept'])) {
        if (caller === undefined) throw new TypeError('listChanges has a caller')
        assertWanted()
        streams.reserve(caller, connection)
        // Checks the position, and reads the first change. The stream reads the others at the pace of its client.
        const page = await store.listChanges({ after, kind: undefined, limit: 1 })
        return {
          status: 200,
          // Without this field, nginx buffers the events.
          headers: { vary: 'Origin, Accept', 'x-accel-buffering': 'no' },
          type: 'text/event-stream',
          stream: (stream, credential) => streams.add({ stream, credential, kind, page }),
        }
      }
      const { changes, next } = await store.listChanges({ after, kind, limit })
      const target = `/changes?after=${next}&limit=${limit}${kind === undefined ? '' : `&kind=${kind}`}`
      return {
        status: 200,
        headers: { vary: 'Origin, Accept', link: `<${basePath}${target}>; rel="next"` },
        body: Buffer.from(`[${changes.map(({ json }) => json).join()}]`),
      }
    },
  }
}
