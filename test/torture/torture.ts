// The interface of a torture, for `npm run torture`.

/** `missing`: this machine does not have what it takes. */
export type Verdict = 'good' | 'bad' | 'missing'

export interface Run {
  /** States, rounds, faults, connections, cases, bodies or seconds. */
  readonly count: number
  readonly seed: number
  say(line: string): void
}

export interface Torture {
  readonly name: string
  readonly counts: 'STATES' | 'ROUNDS' | 'FAULTS' | 'CONNECTIONS' | 'BODIES' | 'SECONDS'
  readonly usualCount: number
  /** A few seconds' worth. */
  readonly shortCount: number
  /** Whether it draws from the seed. Processes that race are never quite the same again, whatever is drawn. */
  readonly isSeeded?: true
  /** Says what it came to. Good is only a run in which nothing was lost or wrong, and the control lost or was wrong. */
  run(run: Run): Promise<Verdict>
}
