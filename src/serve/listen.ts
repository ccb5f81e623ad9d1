// Where a server listens: an address and port, a Unix socket, or a socket that another program has opened.

import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect, isIP } from 'node:net'
import type { ServeConfig } from '../config.ts'
import { codeOf, messageOf, OperatorError, SettingError } from '../domain/errors.ts'
import { assertFolderOf, explainSettingFailure } from '../store/paths.ts'

export type Address = Pick<ServeConfig, 'host' | 'port' | 'listen'>

/**
 * Has a server listen, and gives the URL at which it is reached: `unix:` and its path for a Unix socket.
 *
 * @param backlog connections that the system makes before the server takes them.
 * @throws OperatorError when it cannot listen there; SettingError when it never could.
 */
export async function listen(server: Server, address: Address, scheme: string, backlog: number): Promise<string> {
  const { host, port, listen } = address
  const path = listen !== undefined && 'path' in listen ? listen.path : undefined
  try {
    if (path !== undefined) {
      checkFolderOf(path)
      await removeStaleSocket(path)
      // Every user of the machine may connect, as to a port; the folder's permissions restrict that.
      server.listen({ path, backlog, readableAll: true, writableAll: true })
    } else if (listen !== undefined && 'descriptor' in listen) {
      server.listen({ fd: listen.descriptor, backlog })
    } else {
      // As URLs have the addresses of IPv6.
      server.listen({ port, host: host.replace(/^\[(.*)\]$/, '$1'), backlog })
    }
    if (!server.listening) await once(server, 'listening')
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    throw explainListenFailure(cause, address)
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

function checkFolderOf(path: string): void {
  try {
    assertFolderOf(path)
  } catch (cause) {
    throw explainSettingFailure(cause, path, 'written')
  }
}

/** A server that was killed leaves its socket behind, and refuses connections there. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw new SettingError(`${path} exists and is not a socket; choose another with --listen`)
  const probe = connect(path)
  try {
    await once(probe, 'connect')
  } catch (error) {
    if (codeOf(error) !== 'ECONNREFUSED') throw error
    rmSync(path, { force: true })
    return
  } finally {
    probe.destroy()
  }
  throw new OperatorError(`another server listens on ${path}; stop it, or choose another path with --listen`)
}

/** An address may come later, as those of a machine that starts, or takes over from another, do. */
function explainListenFailure(cause: unknown, { host, port, listen }: Address): OperatorError {
  const code = codeOf(cause)
  const message = messageOf(cause)
  if (listen !== undefined && 'descriptor' in listen) {
    return new SettingError(
      `fd:${listen.descriptor} is not a socket to listen on; systemd opens one for a service that has a .socket unit (${message})`,
      { cause },
    )
  }
  if (listen !== undefined) {
    const { path } = listen
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      return new SettingError(`this user may not make the socket ${path}; choose another path with --listen`, { cause })
    }
    const length = Buffer.byteLength(path) > 100 ? ', whose path may have at most some 100 bytes' : ''
    return new SettingError(`cannot listen on ${path}${length}: ${message}`, { cause })
  }
  switch (code) {
    case 'EADDRINUSE':
      return new OperatorError(`port ${port} of ${host} is taken; choose another with --port, or 0 for any free one`, {
        cause,
      })
    case 'EACCES':
      return new SettingError(`this user may not listen on port ${port}; choose one above 1023 with --port`, { cause })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new OperatorError(`${host} is not an address of this machine; choose another with --host`, { cause })
  }
  return new OperatorError(`cannot listen on ${host} port ${port}: ${message}`, { cause })
}
