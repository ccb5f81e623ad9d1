// The log of changes, in pages and as a stream.

import type { ChangeStore } from '../domain/store.ts'
import type { ChangeStreams } from './change-streams.ts'
import { prefers } from './negotiation.ts'
import type { Handlers, TraitsOf } from './operations.ts'

/** Default page size. */
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
