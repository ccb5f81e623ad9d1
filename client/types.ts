// Plants and changes, as the document describes them.

import type { PlantId } from './exact-json.ts'
import type { components } from './schemas.ts'

type Schemas = components['schemas']

/** Optional properties may be undefined, and a 64-bit integer is a bigint only if it is beyond 2^53. */
type Exact<Value> = Value extends bigint
  ? bigint | number
  : Value extends object
    ? { readonly [Name in keyof Value]: Exact<Value[Name]> | (object extends Pick<Value, Name> ? undefined : never) }
    : Value

/** A plant to create. */
export type NewPlant = Exact<Schemas['Plant']> & { readonly id: PlantId }
/** The properties that plants have in every document. */
export type AnyPlant = { readonly id: unknown; readonly name: string }
/** The properties of a plant without its id: what a create or a replace returns. */
export type PlantProperties<New extends AnyPlant = NewPlant> = Omit<New, 'id'>
/** A plant that is read, listed or changed. Its id is a bigint. */
export type Plant<New extends AnyPlant = NewPlant> = PlantProperties<New> & { readonly id: bigint }
/** The document's name for a Plant. */
export type StoredPlant = Plant
/** The number of plants, in total and by tag. */
export type Summary = Schemas['Summary']
/** A change of a plant. */
export type Change<New extends AnyPlant = NewPlant> = Omit<Schemas['Change'], 'plant'> & { readonly plant: Plant<New> }
/** A health check that passed. */
export type Health = Schemas['Health']
/** The paths of the service, by name. */
export type Home = Schemas['Home']
