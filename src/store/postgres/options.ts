// What a store in PostgreSQL is opened with, and where it is.

import type { StoreOptions } from '../engine.ts'
import { type Address, describeUrl, parseAddress } from './address.ts'

export interface DatabaseOptions extends StoreOptions {
  readonly address: Address
  /** The address as it may be shown. */
  readonly place: string
}

/** @throws OperatorError when the URL is malformed. */
export function locate(url: string, options: StoreOptions): DatabaseOptions {
  return { ...options, address: parseAddress(url, options.environment), place: describeUrl(url) }
}
