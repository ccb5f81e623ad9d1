// Drops what comes over single connections to a port, on the input hook of nft. Nothing is told to either end, as when a
// router has forgotten a connection.

import { run } from '../patroni/machines.ts'

/** What is lost: what the server answers, what it is asked, or both. */
export type Way = 'answers' | 'requests' | 'both ways'
export const ways: readonly Way[] = ['answers', 'both ways', 'requests']

export class Firewall {
  static async start(port: number): Promise<Firewall> {
    const rules = `table inet silence {
      set answers { type inet_service; }
      set requests { type inet_service; }
      chain path { }
      chain input {
        type filter hook input priority 0;
        tcp sport ${port} tcp dport @answers drop
        tcp dport ${port} tcp sport @requests drop
        jump path
      }
    }`
    await run('nft', rules)
    return new Firewall(port)
  }

  readonly #port: number

  private constructor(port: number) {
    this.#port = port
  }

  /** @param port of the client's end. */
  async silence(port: number, way: Way): Promise<void> {
    for (const set of setsOf(way)) await run('nft', 'add', 'element', 'inet', 'silence', set, `{ ${port} }`)
  }

  async mend(port: number, way: Way): Promise<void> {
    for (const set of setsOf(way)) await run('nft', 'delete', 'element', 'inet', 'silence', set, `{ ${port} }`)
  }

  /**
   * Has one of eight paths lose everything: that of a connection, and of some of those that are opened later. A path is
   * chosen by the client's port, which Linux takes from the even ones.
   */
  async silencePath(port: number, way: Way): Promise<void> {
    const [answers, requests] = [
      `tcp sport ${this.#port} tcp dport & 15 == ${port & 15} drop`,
      `tcp dport ${this.#port} tcp sport & 15 == ${port & 15} drop`,
    ]
    if (way !== 'requests') await run('nft', 'add', 'rule', 'inet', 'silence', 'path', answers)
    if (way !== 'answers') await run('nft', 'add', 'rule', 'inet', 'silence', 'path', requests)
  }

  async mendPath(): Promise<void> {
    await run('nft', 'flush', 'chain', 'inet', 'silence', 'path')
  }
}

function setsOf(way: Way): readonly string[] {
  return way === 'both ways' ? ['answers', 'requests'] : [way]
}
