// Where a server listens: an address and port, a Unix socket, or a socket that somebody else has opened.

import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect, isIP } from 'node:net'
import type { ServeConfig } from '../config.ts'
import { OperatorError } from '../domain/errors.ts'
import { assertFolderOf } from '../store/paths.ts'

export type Address = Pick<ServeConfig, 'host' | 'port' | 'listen'>

/**
 * Has a server listen, and gives the URL at which it is reached: `unix:` and its path for a Unix socket.
 *
 * @param backlog connections that the system makes before the server takes them.
 * @throws OperatorError when it cannot listen there.
 */
export async function listen(server: Server, address: Address, scheme: string, backlog: number): Promise<string> {
  const { host, port, listen } = address
  const path = socketPath(address)
  try {
    if (path !== undefined) {
      assertFolderOf(path)
      await removeStaleSocket(path)
      // As anybody on this machine could reach a port; the folder says who may enter.
      server.listen({ path, backlog, readableAll: true, writableAll: true })
    } else if (listen === 'none') {
      // As URLs have the addresses of IPv6.
      server.listen({ port, host: host.replace(/^\[(.*)\]$/, '$1'), backlog })
    } else {
      server.listen({ fd: Number(listen.slice('fd:'.length)), backlog })
    }
    if (!server.listening) await once(server, 'listening')
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError(whyNot(cause, address), { cause })
  }
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return `unix:${path ?? bound ?? ''}`
  return `${scheme}://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

/** Whether only this machine can reach a server at a URL that `listen` gave. */
export function isLocal(url: string): boolean {
  if (url.startsWith('unix:')) return true
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function socketPath({ listen }: Address): string | undefined {
  return listen.startsWith('unix:') ? listen.slice('unix:'.length) : undefined
}

/** A server that was killed leaves its socket behind, at which nobody answers any more. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw new OperatorError(`${path} exists and is not a socket; choose another with --listen`)
  const probe = connect(path)
  try {
    await once(probe, 'connect')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) throw error
    rmSync(path, { force: true })
    return
  } finally {
    probe.destroy()
  }
  throw new OperatorError(`another server listens on ${path}; stop it, or choose another path with --listen`)
}

function whyNot(cause: unknown, { host, port, listen }: Address): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const message = cause instanceof Error ? cause.message : String(cause)
  if (listen.startsWith('fd:')) {
    return `${listen} is not a socket to listen on; systemd opens one for a service that has a .socket unit (${message})`
  }
  if (listen !== 'none') {
    const path = listen.slice('unix:'.length)
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      return `this user may not make the socket ${path}; choose another path with --listen`
    }
    const length = Buffer.byteLength(path) > 100 ? ', whose path may have at most some 100 bytes' : ''
    return `cannot listen on ${path}${length}: ${message}`
  }
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is taken; choose another with --port, or 0 for any free one`
    case 'EACCES':
      return `this user may not listen on port ${port}; choose one above 1023 with --port`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; choose another with --host`
  }
  return `cannot listen on ${host} port ${port}: ${message}`
}
