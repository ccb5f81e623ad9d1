// Why a server could not be tested.

/** There was no answer. The message explains why. */
export class NoAnswer extends Error {
  /** Whether a connection was established. */
  readonly wasConnected: boolean

  constructor(message: string, wasConnected: boolean, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NoAnswer'
    this.wasConnected = wasConnected
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
