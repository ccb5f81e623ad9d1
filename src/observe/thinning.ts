// Thins out events that repeat: the first of a kind passes at once, and then the last of each period, with the number of
// those before it that did not. Thousands of failures a second must not fill the disk with lines.

/** An event that waits for the end of its period. */
interface HeldEvent<Event> {
  readonly event: Event
  /** Events of this kind since the last one that passed. */
  readonly leftOut: number
}

export class Thinning<Event> {
  readonly #periodMs: number
  readonly #pass: (event: Event, leftOut: number) => void
  /** By kind, while its period lasts. */
  readonly #periods = new Map<string, { waiting: HeldEvent<Event> | undefined; readonly timer: NodeJS.Timeout }>()

  /**
   * @param periodMs between two events of a kind that pass.
   * @param pass gets each event that passes, and how many of its kind were left out since the one before it.
   */
  constructor(periodMs: number, pass: (event: Event, leftOut: number) => void) {
    this.#periodMs = periodMs
    this.#pass = pass
  }

  /** @param kind one of few: each has a timer. */
  take(kind: string, event: Event): void {
    const period = this.#periods.get(kind)
    if (period === undefined) {
      this.#begin(kind)
      this.#pass(event, 0)
    } else {
      period.waiting = { event, leftOut: (period.waiting?.leftOut ?? -1) + 1 }
    }
  }

  /** Passes the events that wait. */
  flush(): void {
    for (const kind of [...this.#periods.keys()]) this.#end(kind)
  }

  #begin(kind: string): void {
    const timer = setTimeout(() => {
      if (this.#end(kind)) this.#begin(kind)
    }, this.#periodMs)
    this.#periods.set(kind, { waiting: undefined, timer: timer.unref() })
  }

  /** Whether an event passed. */
  #end(kind: string): boolean {
    const period = this.#periods.get(kind)
    clearTimeout(period?.timer)
    this.#periods.delete(kind)
    if (period?.waiting === undefined) return false
    this.#pass(period.waiting.event, period.waiting.leftOut)
    return true
  }
}
