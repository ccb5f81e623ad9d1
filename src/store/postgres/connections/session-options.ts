// Options and address of a store in PostgreSQL.

import type { StoreOptions } from '../../engine.ts'
import { type Address, describeUrl, parseAddress } from './address.ts'
import { Hosts } from './hosts.ts'

export interface DatabaseOptions extends StoreOptions {
  readonly address: Address
  /** The state of the hosts of the address. */
  readonly hosts: Hosts
  /** The address for display, without its password. */
  readonly place: string
}

/** @throws OperatorError if the URL is malformed. */
export function locate(url: string, options: StoreOptions): DatabaseOptions {
  const address = parseAddress(url, options.environment)
  return { ...options, address, hosts: new Hosts(address.hosts), place: describeUrl(url) }
}
