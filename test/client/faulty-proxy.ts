// A TCP proxy that cuts connections where the test specifies: in the middle of a request or of a response.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A piece of what goes one way. Requests and answers of a few hundred bytes come in one. */
export interface Piece {
  readonly of: 'request' | 'answer'
  readonly bytes: Buffer
}

/** How many bytes of a piece are let through before both ends are cut off; undefined: all, and nothing is cut. */
export type Decide = (piece: Piece) => number | undefined

export class FaultyProxy implements AsyncDisposable {
  /** What becomes of the pieces from now on. */
  decide: Decide = () => undefined
  /** Connections that were cut. */
  cuts = 0
  /** The port that connections from now on lead to. */
  targetPort: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async start(targetPort: number): Promise<FaultyProxy> {
    return new FaultyProxy(await listen(), targetPort)
  }

  protected constructor(server: Server, targetPort: number) {
    this.targetPort = targetPort
    this.#server = server
    server.on('connection', (client) => {
      this.#track(client)
      this.connect(client)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Cuts the connections that there are. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Takes no more connections. */
  close(): void {
    this.#server.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined
    this.close()
    this.cutAll()
    await closed
  }

  protected connect(client: Socket): void {
    const target = connect({ port: this.targetPort, host: '127.0.0.1', noDelay: true })
    this.#track(target)
    this.join(client, target)
  }

  protected join(client: Socket, target: Socket): void {
    // What was written to the other one before gets there.
    client.on('close', () => target.destroySoon())
    target.on('close', () => client.destroySoon())
    const pass = (of: Piece['of'], to: Socket) => (bytes: Buffer) => {
      const length = this.decide({ of, bytes })
      to.write(bytes.subarray(0, length))
      if (length === undefined) return
      this.cuts += 1
      for (const socket of [client, target]) socket.removeAllListeners('data').destroySoon()
    }
    client.on('data', pass('request', target))
    target.on('data', pass('answer', client))
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
  }
}

export async function listen(): Promise<Server> {
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
