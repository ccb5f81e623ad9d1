// What `npm run torture` knows of each torture.

/** `missing`: this machine does not have what it takes. */
export type Verdict = 'good' | 'bad' | 'missing'

export interface Run {
  /** States or rounds. */
  readonly count: number
  /** For what is drawn at random; a torture of processes that race cannot be repeated by it. */
  readonly seed: number
  say(line: string): void
}

export interface Torture {
  readonly name: string
  readonly counts: 'STATES' | 'ROUNDS'
  readonly usualCount: number
  /** A few seconds' worth. */
  readonly shortCount: number
  /** Says what it came to. Good is only a run in which nothing was lost and the control lost something. */
  run(run: Run): Promise<Verdict>
}
