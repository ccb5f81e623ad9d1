// Why a server could not be tested.

/** Without types of Node.js, which users of the package may not have. */
interface Refusal {
  readonly status: number
}

/** There was no answer, or none but refusals of a busy server. The message explains why. */
export class NoAnswer extends Error {
  /** Whether a connection was established. */
  readonly wasConnected: boolean
  /** The last refusal of a server that was still busy after the maximum wait. */
  readonly answer: Refusal | undefined

  constructor(message: string, wasConnected: boolean, options: ErrorOptions & { readonly answer?: Refusal } = {}) {
    super(message, options)
    this.name = 'NoAnswer'
    this.wasConnected = wasConnected
    this.answer = options.answer
  }
}

/** An id of the range is taken. Nothing but reads was sent. */
export class TakenError extends Error {
  readonly id: bigint

  constructor(id: bigint) {
    super(`plant ${id} is there`)
    this.name = 'TakenError'
    this.id = id
  }
}
