// Plants and changes, as the document describes them.

import type { components } from '../contract/types.ts'
import type { PlantId } from './exact-json.ts'

type Schemas = components['schemas']

/** The name and tag of a plant. */
export type Plant = Omit<Schemas['Plant'], 'tag'> & { readonly tag?: string | undefined }
/** A plant with its id, which is a bigint. */
export type StoredPlant = Schemas['StoredPlant']
/** A plant to be created. */
export type NewPlant = Plant & { readonly id: PlantId }
/** The number of plants, in total and by tag. */
export type Summary = Schemas['Summary']
/** A change of a plant. */
export type Change = Schemas['Change']
/** A health check that passed. */
export type Health = Schemas['Health']
/** The paths of the service, by name. */
export type Home = Schemas['Home']

/** How changes are followed. */
export interface FollowOptions {
  /** Ends the iteration, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called each time that the stream is open. */
  readonly onOpen?: (() => void) | undefined
  /** Called when the server cannot be reached, with the milliseconds until the next try. */
  readonly onFailure?: ((failure: Error, retryMs: number) => void) | undefined
}

/** Which changes to list or follow. Without `after`, from the oldest that the server has; `now` for later ones only. */
export interface ChangeQuery {
  readonly after?: string | undefined
  readonly kind?: Change['kind'] | undefined
}
