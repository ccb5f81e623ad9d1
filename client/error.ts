// The error that client calls reject with.

/** The properties of a new PlantStoreError. */
export type ErrorDetails = Partial<Omit<PlantStoreError, 'name' | 'message' | 'stack'>>

/** A failed call: the server rejected it, or sent no readable answer. */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError'
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined
  /** The error number, listed in the document; undefined if the answer has none, such as a proxy's. */
  readonly error: number | undefined
  /** Identifies the request, for example in the server's log. */
  readonly requestId: string | undefined
  /** Minimum seconds to wait before retrying, as requested by the server. */
  readonly retryAfter: number | undefined
  /**
   * Whether a change may have succeeded nevertheless: a try of the call got no answer, or one that leaves the outcome
   * open. If so, read the plant, or repeat a create with the same Idempotency-Key.
   */
  readonly mayBeDone: boolean

  constructor(message: string, details: ErrorDetails = {}) {
    const { status, error, requestId, retryAfter, mayBeDone = false, cause } = details
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.error = error
    this.requestId = requestId
    this.retryAfter = retryAfter
    this.mayBeDone = mayBeDone
  }
}
