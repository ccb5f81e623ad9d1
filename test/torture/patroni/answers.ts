// What the servers answered to creates, and how long each of them did not acknowledge any.

interface Answer {
  readonly atMs: number
  readonly isAcknowledged: boolean
}

export class Answers {
  readonly #servers: Answer[][]
  #sinceMs = 0

  constructor(servers: number) {
    this.#servers = Array.from({ length: servers }, () => [])
  }

  readonly add = (server: number, isAcknowledged: boolean): void => {
    this.#servers[server]?.push({ atMs: performance.now(), isAcknowledged })
  }

  restart(): void {
    this.#sinceMs = performance.now()
    for (const answers of this.#servers) answers.splice(0)
  }

  /** How many creates each server has acknowledged since the start. */
  acknowledged(): readonly number[] {
    return this.#servers.map((answers) => answers.filter(({ isAcknowledged }) => isAcknowledged).length)
  }

  times(): { readonly awayMs: readonly number[]; readonly silentMs: readonly number[] } {
    return {
      awayMs: this.#servers.map(longestAway),
      silentMs: this.#servers.map((answers) => longestSilence(answers, this.#sinceMs)),
    }
  }
}

/** The longest time from the first create that was refused to the next that was acknowledged. */
function longestAway(answers: readonly Answer[]): number {
  let longest = 0
  let sinceMs: number | undefined
  for (const { atMs, isAcknowledged } of answers) {
    if (!isAcknowledged) sinceMs ??= atMs
    else if (sinceMs !== undefined) {
      longest = Math.max(longest, atMs - sinceMs)
      sinceMs = undefined
    }
  }
  return longest
}

/** The longest time in which none was acknowledged. */
function longestSilence(answers: readonly Answer[], sinceMs: number): number {
  let [longest, lastMs] = [0, sinceMs]
  for (const { atMs, isAcknowledged } of answers) {
    if (!isAcknowledged) continue
    longest = Math.max(longest, atMs - lastMs)
    lastMs = atMs
  }
  return longest
}
