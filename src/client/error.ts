// What a call of the client rejects with.

export interface ErrorDetails {
  readonly status?: number | undefined
  readonly error?: number | undefined
  readonly requestId?: string | undefined
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/** A call that failed: refused by the server, which says why, or not answered in a way that could be read. */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError'
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined
  /** The number of the error, as the document lists them; undefined when the answer has none, as that of a proxy. */
  readonly error: number | undefined
  /** Names the request; the log of the server has it, too. */
  readonly requestId: string | undefined
  /** Seconds after which the server wants to be asked again, at the earliest. */
  readonly retryAfter: number | undefined

  constructor(message: string, { status, error, requestId, retryAfter, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.error = error
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}
