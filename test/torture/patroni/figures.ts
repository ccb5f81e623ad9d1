// The times of all faults of a run, by what befell the cluster and by the servers' ways to it.

import type { Struck } from '../patroni.ts'

export class Figures {
  readonly #ways: readonly string[]
  readonly #struck = new Map<string, Struck[]>()

  constructor(ways: readonly string[]) {
    this.#ways = ways
  }

  /** Gives what is said of it. */
  add(fault: string, struck: Struck): string {
    this.#struck.set(fault, [...(this.#struck.get(fault) ?? []), struck])
    const { awayMs, silentMs, twoPrimariesMs } = struck
    const ways = this.#ways.map((way, index) => `${way} ${seconds(awayMs[index])} (silent ${seconds(silentMs[index])})`)
    return `${fault}: away by ${ways.join(', by ')}; two primaries for ${seconds(twoPrimariesMs)}`
  }

  /** For each fault, median and worst. */
  *lines(): Generator<string> {
    for (const [fault, all] of this.#struck) {
      const both = (of: (struck: Struck) => number): string => {
        const sorted = all.map(of).sort((a, b) => a - b)
        return `${seconds(sorted[(sorted.length - 1) >> 1])} and ${seconds(sorted.at(-1))}`
      }
      const ways = this.#ways.map((way, index) => `by ${way} ${both(({ awayMs }) => awayMs[index] ?? 0)}`)
      const silent = both(({ silentMs }) => Math.max(...silentMs))
      const two = both(({ twoPrimariesMs }) => twoPrimariesMs)
      yield `${all.length} times, ${fault}: away ${ways.join(', ')}; silent, by the worst of them, ${silent}; two primaries ${two}`
    }
  }
}

function seconds(ms = 0): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
