// What callers give, before anything is sent.

/** In all browsers, also where a page came over plain HTTP, and there is no `crypto.randomUUID`. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-')
}

/** Throws a TypeError that does not say what came: it may be a secret. */
export function fieldValue(name: string, text: string): string {
  if (/^[\x20-\x7e]+$/.test(text)) return text
  throw new TypeError(`${name} must consist of spaces and visible ASCII characters`)
}

export function assertPositive(name: string, value: number): void {
  if (!(value > 0)) throw new TypeError(`${name} must be a number above 0, not ${value}`)
}

/** Throws a TypeError for half a surrogate pair, which would be sent as another character. */
export function wellFormed(name: string, text: string): string {
  if (text.isWellFormed()) return text
  throw new TypeError(`${name} must be well-formed Unicode, without half a surrogate pair`)
}
