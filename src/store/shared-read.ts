// A read that takes long, made once for all who ask for it while another one is under way.

export class SharedRead<T> {
  readonly #read: () => Promise<T>
  #underWay: Promise<unknown> | undefined
  #next: Promise<T> | undefined

  constructor(read: () => Promise<T>) {
    this.#read = read
  }

  /** Gives, or rejects with, what a read gives that begins after this call: it sees all that was done before. */
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
