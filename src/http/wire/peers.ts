// Determines the client of a request and its scheme, from the connection or from trusted proxies.

import type { IncomingMessage } from 'node:http'
import { isIP, type Socket, SocketAddress } from 'node:net'
import proxyAddress from '@fastify/proxy-addr'
import { SettingError } from '../../domain/errors.ts'
import type { Fields, Scheme } from '../request.ts'

export type Peers = ReturnType<typeof createPeers>

/**
 * @param proxies trusted proxies: addresses, ranges such as `10.0.0.0/8`, `loopback`, `linklocal`, `uniquelocal`, and
 * `unix` for clients of a Unix socket.
 * @throws SettingError if one of them is invalid.
 */
export function createPeers(proxies: readonly string[]) {
  const trustsUnix = proxies.includes('unix')
  const isListed = compileList(proxies.filter((name) => name !== 'unix'))
  const trusts = (address: string | undefined, index: number): boolean =>
    address === undefined ? trustsUnix : isListed(withoutPort(address), index)
  return {
    /** Undefined over a Unix socket whose peer is not trusted or sends none. */
    addressOf: (socket: Socket, fields: Fields): string | undefined => {
      const own = ownAddress(socket)
      const forwarded = fields['x-forwarded-for']
      if (forwarded === undefined || !trusts(own, 0)) return own
      const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress: own } }
      const found = withoutPort(proxyAddress(request as unknown as IncomingMessage, trusts))
      // A proxy may forward a value that the client invented.
      return isIP(found) === 0 ? own : unwrapped(usualForm(found))
    },
    schemeOf: (socket: Socket, fields: Fields): Scheme => {
      const forwarded = fields['x-forwarded-proto']
      if (forwarded === undefined || !trusts(ownAddress(socket), 0)) return ownScheme(socket)
      const last = forwarded.split(',').at(-1)?.trim().toLowerCase()
      return last === 'http' || last === 'https' ? last : ownScheme(socket)
    },
  }
}

function compileList(names: string[]): (address: string, index: number) => boolean {
  try {
    return proxyAddress.compile(names)
  } catch (cause) {
    const what = 'addresses, ranges such as 10.0.0.0/8, loopback, linklocal, uniquelocal or unix, comma-separated'
    throw new SettingError(`--trust-proxy must be none, or ${what}: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Extracts the address from `192.0.2.1:80`, `[2001:db8::1]:80` or `[2001:db8::1]`, which some proxies send; returns
 * other texts unchanged.
 */
function withoutPort(text: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(text) ?? []
  return ipv6 ?? ipv4 ?? text
}

/** Normalises an address to the form of sockets: IPv6 addresses have many spellings (RFC 5952, section 2). */
function usualForm(address: string): string {
  return isIP(address) === 4 ? address : new SocketAddress({ address, family: 'ipv6' }).address
}

/** Unwraps an IPv4-mapped IPv6 address, which a server that listens on IPv6 sees (RFC 4291, section 2.5.5.2). */
function unwrapped(address: string): string {
  return /^::ffff:\d+\./i.test(address) ? address.slice('::ffff:'.length) : address
}

export function ownAddress({ remoteAddress }: Socket): string | undefined {
  return remoteAddress && unwrapped(remoteAddress)
}

function ownScheme(socket: Socket & { readonly encrypted?: boolean }): Scheme {
  return socket.encrypted === true ? 'https' : 'http'
}
