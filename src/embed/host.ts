// The test thread's view of the server thread, which all its servers share.

import { once } from 'node:events'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { NewPlant } from '../../client/client.ts'
import type { Scope } from '../domain/caller.ts'
import type { Fault } from './fault.ts'

/** The calls to the thread. `start` begins a server, which takes the others. */
export interface Calls {
  start(asked: { file: string; document: string | undefined; plants: readonly NewPlant[] }): Promise<Started>
  makeToken(scopes: readonly Scope[]): Promise<string>
  fail(fault: Fault): Promise<void>
  reset(asked: undefined): Promise<void>
  stop(asked: undefined): Promise<void>
}

interface Started {
  readonly url: string
  readonly token: string
}

export interface CallMessage {
  readonly server: number
  readonly name: keyof Calls
  readonly asked: unknown
  readonly port: MessagePort
}

export interface Reply {
  readonly answer?: unknown
  readonly failure?: string
}

const file = new URL(import.meta.url.endsWith('.ts') ? 'host-thread.ts' : 'host-thread.js', import.meta.url)

export class Host {
  readonly #worker: Worker
  readonly #ended = Promise.withResolvers<never>()

  constructor() {
    // The thread does not inherit the flags of the test process, such as its runner's.
    this.#worker = new Worker(file, { execArgv: [] })
    this.#worker.on('error', this.#ended.reject)
    // The calls report the failure.
    this.#ended.promise.catch(() => {})
    // A test that does not stop its server can exit. A pending call keeps it running.
    this.#worker.unref()
  }

  async ask<Name extends keyof Calls>(
    server: number,
    name: Name,
    asked: Parameters<Calls[Name]>[0],
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    const { port1, port2 } = new MessageChannel()
    try {
      const replied = once(port1, 'message') as Promise<[Reply]>
      // Throws for values that cannot be cloned, such as a function.
      this.#worker.postMessage({ server, name, asked, port: port2 } satisfies CallMessage, [port2])
      const [{ answer, failure }] = await Promise.race([replied, this.#ended.promise])
      if (failure !== undefined) throw new Error(failure)
      return answer as Awaited<ReturnType<Calls[Name]>>
    } finally {
      port1.close()
    }
  }

  /** Ends the thread after its last server stopped. */
  end(): void {
    this.#ended.reject(new Error('this plant store was stopped'))
    void this.#worker.terminate()
  }
}
