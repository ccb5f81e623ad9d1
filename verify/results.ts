// What a run takes and gives, as data. `--json` prints the report as it is.

/** `specified`: what the original Plant Store document says. `complete`: also what openapi.yaml adds. */
export const levels = ['specified', 'complete'] as const
export type Level = (typeof levels)[number]

export interface Tokens {
  /** A token that can read and write. */
  readonly token: string
  /** Another one. Rows that need a further token are skipped without it. */
  readonly secondToken?: string | undefined
  readonly readOnlyToken?: string | undefined
  readonly writeOnlyToken?: string | undefined
  readonly expiredToken?: string | undefined
  readonly revokedToken?: string | undefined
}

export interface VerifyOptions extends Tokens {
  /** The server's base URL, such as `http://127.0.0.1:3000`. */
  readonly url: string | URL
  /** The server's document, if it has one of its own: a path. */
  readonly document?: string | undefined
  /** Default `complete`. */
  readonly level?: Level | undefined
  /** The first of the million ids to use, from which on ids must be free. */
  readonly firstId?: bigint | undefined
  /** How long an answer may take; default 10,000. */
  readonly timeoutMs?: number | undefined
  /** Ends the run early. It deletes its plants first. */
  readonly signal?: AbortSignal | undefined
  /** Selects rows; by default, all. */
  readonly only?: ((row: RowName) => boolean) | undefined
  /** Called when a row has ended, such as to abort `signal` at the first failure. */
  readonly onRow?: ((row: RowResult) => void) | undefined
}

/** A row is identified by its title. */
export interface RowName {
  readonly subject: string
  readonly title: string
}

/** One rule of the document, and whether the server keeps it. */
export interface RowResult extends RowName {
  readonly level: Level
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** The document's rule, and its place. */
  readonly document: string
  /** Why it was skipped. */
  readonly skipped?: string | undefined
  readonly failure?: ShownFailure | undefined
}

/** A failed row in words, without tokens. */
export interface ShownFailure {
  /** Which of the row's requests failed, and how many there are. */
  readonly request: string
  readonly sent: readonly string[]
  readonly came: readonly string[]
  readonly wrong: string
}

export interface Counts {
  readonly rows: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Ids are strings, because most programs would round them. */
export interface VerifyReport {
  readonly url: string
  readonly level: Level
  readonly ids: { readonly first: string; readonly last: string }
  readonly counts: Counts
  /** Descriptions of what the run could not delete. */
  readonly left: readonly string[]
  readonly rows: readonly RowResult[]
}

export function countRows(rows: readonly RowResult[]): Counts {
  const of = (wanted: RowResult['outcome']): number => rows.filter(({ outcome }) => outcome === wanted).length
  return { rows: rows.length, passed: of('passed'), failed: of('failed'), skipped: of('skipped') }
}

/** Without types of Node.js, which users of the package may not have. */
interface Refusal {
  readonly status: number
}

/** There was no answer, or none but refusals of a busy server. The message explains why. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  /** Whether a connection was established. */
  readonly wasConnected: boolean
  /** The last refusal of a server that was still busy after the maximum wait. */
  readonly answer: Refusal | undefined

  constructor(message: string, wasConnected: boolean, options: ErrorOptions & { readonly answer?: Refusal } = {}) {
    super(message, options)
    this.wasConnected = wasConnected
    this.answer = options.answer
  }
}

/** An id of the range is taken. Nothing but reads was sent. */
export class TakenError extends Error {
  override readonly name = 'TakenError'
  readonly id: bigint

  constructor(id: bigint) {
    super(`plant ${id} is there`)
    this.id = id
  }
}
