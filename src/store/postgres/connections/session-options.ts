// Options and address of a store in PostgreSQL.

import type { StoreOptions } from '../../engine.ts'
import { type Address, describeUrl, parseAddress } from './address.ts'

export interface DatabaseOptions extends StoreOptions {
  readonly address: Address
  /** The address for display, without its password. */
  readonly place: string
}

/** @throws OperatorError if the URL is malformed. */
export function locate(url: string, options: StoreOptions): DatabaseOptions {
  return { ...options, address: parseAddress(url, options.environment), place: describeUrl(url) }
}
