// Thins out repeating events: passes the first of a kind at once, then the last of each period, with the number of
// suppressed ones. Thousands of failures a second must not fill the disk.

export class Thinning<Event> {
  readonly #periodMs: number
  readonly #pass: (event: Event, leftOut: number) => void
  /** Current periods by kind, each with the last event that it holds, and the number of its events before that. */
  readonly #periods = new Map<string, { waiting?: { event: Event; leftOut: number }; readonly timer: NodeJS.Timeout }>()

  /**
   * @param periodMs minimum time between two events of a kind.
   * @param pass receives each event that passes, and the number of its kind suppressed since the previous one.
   */
  constructor(periodMs: number, pass: (event: Event, leftOut: number) => void) {
    this.#periodMs = periodMs
    this.#pass = pass
  }

  /** @param kind must have few values: each has a timer. */
  take(kind: string, event: Event): void {
    const period = this.#periods.get(kind)
    if (period === undefined) {
      this.#begin(kind)
      this.#pass(event, 0)
    } else {
      period.waiting = { event, leftOut: (period.waiting?.leftOut ?? -1) + 1 }
    }
  }

  /** Passes the held events. */
  flush(): void {
    for (const kind of [...this.#periods.keys()]) this.#end(kind)
  }

  #begin(kind: string): void {
    const timer = setTimeout(() => {
      if (this.#end(kind)) this.#begin(kind)
    }, this.#periodMs)
    this.#periods.set(kind, { timer: timer.unref() })
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
