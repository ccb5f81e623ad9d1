// What the servers answered to creates, and how long they did not acknowledge any.

interface Answer {
  readonly atMs: number
  readonly isAcknowledged: boolean
}

export interface Outage {
  /** From the first create that a server refused to the next that it acknowledged, in ms. */
  readonly awayMs: number
  /** The longest time in which a server acknowledged no create, in ms. */
  readonly silentMs: number
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

  /** The outage of the server that had the longest one. */
  outage(): Outage {
    const outages = this.#servers.map((answers) => outageOf(answers, this.#sinceMs))
    return {
      awayMs: Math.max(...outages.map(({ awayMs }) => awayMs)),
      silentMs: Math.max(...outages.map(({ silentMs }) => silentMs)),
    }
  }
}

function outageOf(answers: readonly Answer[], sinceMs: number): Outage {
  let [awayMs, silentMs, lastMs] = [0, 0, sinceMs]
  let refusedMs: number | undefined
  for (const { atMs, isAcknowledged } of answers) {
    if (!isAcknowledged) {
      refusedMs ??= atMs
      continue
    }
    awayMs = Math.max(awayMs, atMs - (refusedMs ?? atMs))
    silentMs = Math.max(silentMs, atMs - lastMs)
    refusedMs = undefined
    lastMs = atMs
  }
  return { awayMs, silentMs }
}
