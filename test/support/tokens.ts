// Adds and revokes tokens of a store beside its server.

import { allScopes, type Scope } from '../../src/domain/caller.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { createToken } from '../../src/serve/new-token.ts'
import { openTestStore } from './store.ts'

export async function addToken(place: string, name: string, scopes: readonly Scope[] = allScopes) {
  await using store = await openTestStore(place, { exclusive: false })
  return await createToken(store, { name, scopes })
}

export async function revokeToken(place: string, id: string): Promise<void> {
  await using store = await openTestStore(place, { exclusive: false })
  await store.revokeToken(id, systemClock.wallMs())
}
