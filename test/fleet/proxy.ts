// A TCP proxy in front of PostgreSQL, with which a test cuts connections at critical moments.

import type { Socket } from 'node:net'
import { FaultyProxy, listen } from '../client/faulty-proxy.ts'

/**
 * What becomes of the connection that the next COMMIT is sent over:
 * - `lostAnswer`: the server gets the COMMIT, its answer is lost.
 * - `lostCommit`: the server does not get it.
 * - `lateCommit`: the client is cut off at once; the server gets the COMMIT later, by `release`.
 * - `silentAnswer`, `silentCommit`: as the first two, but no end is told: from then on that way swallows everything.
 */
export type Cut = 'lostAnswer' | 'lostCommit' | 'lateCommit' | Silence
export type Silence = 'silentAnswer' | 'silentCommit'

const commit = Buffer.from('COMMIT\0')

export class CuttingProxy extends FaultyProxy {
  /** How long each piece takes, either way. */
  #delayMs = 0
  /** Clients that wait to be connected; undefined while nobody has to. */
  #waiting: Socket[] | undefined
  #cut: Cut | undefined
  /** What the connection that is cut next is recognised by. */
  #cutAt = commit
  #held: (() => void)[] = []
  #released: Promise<unknown>[] = []

  static override async start(targetPort: number, delayMs = 0): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(await listen(), targetPort)
    proxy.#delayMs = delayMs
    return proxy
  }

  cutNext(cut: Cut): void {
    this.#cut = cut
    this.#cutAt = commit
  }

  /** Silences the connection over which something is sent next. */
  silenceNext(cut: Silence, sent: string): void {
    this.#cut = cut
    this.#cutAt = Buffer.from(sent)
  }

  /** Leads to another server. */
  leadTo(targetPort: number): void {
    this.targetPort = targetPort
    this.cutAll()
  }

  /** Lets new connections wait. */
  holdConnections(): void {
    this.#waiting ??= []
  }

  /** Connects those that wait, and new ones at once. */
  takeConnections(): void {
    for (const client of this.#waiting ?? []) super.connect(client)
    this.#waiting = undefined
  }

  /** Lets the server have the COMMITs that were held back. */
  release(): void {
    for (const send of this.#held.splice(0)) send()
  }

  /** Resolves once the connections that were cut are closed by the server, which has then done what it was told. */
  async idle(): Promise<void> {
    await Promise.all(this.#released)
  }

  protected override connect(client: Socket): void {
    if (this.#waiting === undefined) super.connect(client)
    else this.#waiting.push(client)
  }

  protected override join(client: Socket, server: Socket): void {
    let isCut = false
    let silence: Silence | undefined
    server.on('data', (bytes) => {
      this.#later(() => {
        if (!isCut && silence !== 'silentAnswer') client.write(bytes)
      })
    })
    server.on('close', () => this.#later(() => client.destroy()))
    client.on('close', () => {
      if (!isCut) server.destroy()
    })
    client.on('data', (bytes: Buffer) => {
      if (isCut || silence === 'silentCommit') return
      const cut = bytes.includes(this.#cutAt) ? this.#cut : undefined
      if (cut !== undefined) {
        this.#cut = undefined
        this.cuts += 1
      }
      if (cut === 'silentAnswer' || cut === 'silentCommit') silence = cut
      if (cut === 'silentCommit') return
      if (cut === undefined || cut === 'silentAnswer') {
        this.#later(() => server.write(bytes))
        return
      }
      isCut = true
      client.destroy()
      this.#later(() => this.#end(cut, server, bytes))
    })
  }

  #end(cut: Exclude<Cut, Silence>, server: Socket, bytes: Buffer): void {
    if (cut === 'lostCommit') {
      server.destroy()
      return
    }
    const send = (): void => {
      // The database may have ended the connection meanwhile.
      if (!server.writable) return
      // It may also be closed by an error.
      this.#released.push(new Promise((resolve) => server.once('close', resolve)))
      server.end(bytes)
    }
    if (cut === 'lateCommit') this.#held.push(send)
    else send()
  }

  #later(act: () => void): void {
    if (this.#delayMs === 0) act()
    else setTimeout(act, this.#delayMs)
  }
}
