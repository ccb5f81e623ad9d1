// Changes: in pages up to now, or in an endless stream.

import { isChange, pathOf } from './checks.ts'
import {
  isOther,
  mayPass,
  PlantStoreError,
  parse,
  pause,
  pauseBefore,
  read,
  refusalOf,
  type Store,
  textOf,
  unreachable,
} from './request.ts'
import type { Change } from './types.ts'

/** How changes are followed. */
export interface FollowOptions {
  /** Ends the iteration, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called each time the stream opens. */
  readonly onOpen?: (() => void) | undefined
  /** Called when the server cannot be reached, with the milliseconds until the next try. */
  readonly onFailure?: ((failure: Error, retryMs: number) => void) | undefined
}

/** Which changes to list or follow. Without `after`: from the oldest in the log. With `now`: only later ones. */
export interface ChangeQuery {
  readonly after?: string | undefined
  readonly kind?: Change['kind'] | undefined
}

/** Items of pages that are fetched on demand. */
export interface Paged<Page, Item> extends AsyncIterable<Item> {
  /** The same items, page by page. */
  pages(): AsyncGenerator<Page, void, undefined>
}

export function paged<Name extends string, Page extends Readonly<Record<Name, readonly unknown[]>>>(
  name: Name,
  pages: () => AsyncGenerator<Page, void, undefined>,
): Paged<Page, Page[Name][number]> {
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page[name]
    },
  }
}

/** One page of changes. */
export interface ChangePage<Each = Change> {
  readonly changes: readonly Each[]
  /** The `after` of the next page. */
  readonly next: string
}

/** A stream without a byte for this long is broken: the server sends a comment every 15 seconds. */
const silenceMsMax = 40_000

/** A stream with a longer block is not one of a plant store, and may be endless. */
const blockCharactersMax = 4_000_000

/** Yields changes as they happen. Throws PlantStoreError if the server rejects the request, as for a lost position. */
export async function* follow<Each>(
  store: Store,
  query: ChangeQuery,
  options: FollowOptions,
): AsyncGenerator<Each, void, undefined> {
  let after = query.after
  for (let tries = 1; ; tries += 1) {
    let retryMs: number
    try {
      for await (const { id, change } of eventsOf(store, pathOf('/changes', { ...query, after }), options)) {
        tries = 0
        if (change !== undefined) yield change as Each
        // The consumer has processed the change; until here, a reconnection would repeat it.
        after = id ?? after
      }
      retryMs = pauseBefore(tries + 1, new PlantStoreError('the stream has ended'))
    } catch (error) {
      if (!(error instanceof PlantStoreError) || !mayPass(error)) throw error
      retryMs = pauseBefore(tries + 1, error)
      options.onFailure?.(error, retryMs)
    }
    await pause(retryMs, options.signal)
  }
}

/** The blocks of a stream (WHATWG HTML, section 9.2.6). Ends with the stream. */
async function* eventsOf(
  { url, headers, send }: Store,
  path: string,
  { signal, onOpen }: FollowOptions,
): AsyncGenerator<{ readonly id: string | undefined; readonly change: unknown }, void, undefined> {
  signal?.throwIfAborted()
  const silence = new AbortController()
  const limit = signal === undefined ? silence.signal : AbortSignal.any([silence.signal, signal])
  const begin = (): ReturnType<typeof setTimeout> => setTimeout(() => silence.abort(), silenceMsMax)
  let timer = begin()
  try {
    const accept = { Accept: 'text/event-stream' }
    const response = await send(url + path, { headers: { ...headers, ...accept }, cache: 'no-store', signal: limit })
    if (response.status !== 200) throw refusalOf(await read(response, url), response.statusText)
    if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) throw isOther(url, response)
    onOpen?.()
    let rest = ''
    for await (const piece of textOf(response)) {
      clearTimeout(timer)
      timer = begin()
      const blocks = (rest + piece).split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ''
      if (rest.length > blockCharactersMax) throw isOther(url, response)
      for (const block of blocks) {
        const data = fieldIn(block, 'data')
        const change = data === undefined ? undefined : parse(data)
        if (data !== undefined && !isChange(change)) throw isOther(url, response)
        yield { id: fieldIn(block, 'id'), change }
      }
    }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof PlantStoreError) throw cause
    throw unreachable(url, cause)
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

function fieldIn(block: string, name: string): string | undefined {
  // Without `^` and `.`, which also treat U+2028 and U+2029 as line ends.
  return new RegExp(`(?<![^\\r\\n])${name}: ?([^\\r\\n]*)`).exec(block)?.[1]
}
