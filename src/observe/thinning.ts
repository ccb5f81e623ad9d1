// Thins out repeated events, so that thousands of failures per second do not fill the disk: passes the first of a kind
// at once, then the last of each period, with the number of suppressed ones.

/**
 * @param periodMs minimum time between two events of a kind.
 * @param pass receives each event that passes, and the number of its kind suppressed since the previous one.
 */
export function thin<Event>(periodMs: number, pass: (event: Event, leftOut: number) => void) {
  /** Current periods by kind, each with the last event that it holds, and the number of its events before that. */
  const periods = new Map<string, { held?: { event: Event; leftOut: number }; readonly timer: NodeJS.Timeout }>()

  function begin(kind: string): void {
    const timer = setTimeout(() => end(kind) && begin(kind), periodMs)
    periods.set(kind, { timer: timer.unref() })
  }

  /** Whether an event passed. */
  function end(kind: string): boolean {
    const period = periods.get(kind)
    clearTimeout(period?.timer)
    periods.delete(kind)
    if (period?.held !== undefined) pass(period.held.event, period.held.leftOut)
    return period?.held !== undefined
  }

  return {
    /** @param kind must have few values: each has a timer. */
    take: (kind: string, event: Event): void => {
      const period = periods.get(kind)
      if (period !== undefined) {
        period.held = { event, leftOut: (period.held?.leftOut ?? -1) + 1 }
        return
      }
      begin(kind)
      pass(event, 0)
    },
    /** Passes the held events. */
    flush: (): void => {
      for (const kind of [...periods.keys()]) end(kind)
    },
  }
}
