// Coalesces an expensive read: calls made while a read is in progress share the next one.

export class SharedRead<T> {
  readonly #read: () => Promise<T>
  #underWay: Promise<unknown> | undefined
  #next: Promise<T> | undefined

  constructor(read: () => Promise<T>) {
    this.#read = read
  }

  /** Returns the result of a read that begins after this call, and so sees all earlier changes. */
  read(): Promise<T> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<T> {
    await this.#underWay
    this.#next = undefined
    const reading = this.#read()
    this.#underWay = reading.catch(() => {})
    return reading
  }
}
