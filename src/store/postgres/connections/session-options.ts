// What a store in PostgreSQL is opened with, and where it is.

import type { StoreOptions } from '../../engine.ts'
import { type Address, describeUrl, parseAddress } from './address.ts'
import { Hosts } from './hosts.ts'

export interface DatabaseOptions extends StoreOptions {
  readonly address: Address
  /** What the store has learnt of the hosts of the address. */
  readonly hosts: Hosts
  /** The address as it may be shown. */
  readonly place: string
}

/** @throws OperatorError when the URL is malformed. */
export function locate(url: string, options: StoreOptions): DatabaseOptions {
  const address = parseAddress(url, options.environment)
  return { ...options, address, hosts: new Hosts(address.hosts), place: describeUrl(url) }
}
