// Checks input before anything is sent, and answers for the properties that every document requires.

/** Works in all browsers, including pages over plain HTTP, where `crypto.randomUUID` is missing. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-')
}

/** Throws TypeError without repeating the value, which may be a secret. */
export function fieldValue(name: string, text: string): string {
  if (/^[\x20-\x7e]+$/.test(text)) return text
  throw new TypeError(`${name} must consist of spaces and visible ASCII characters`)
}

export function assertPositive(name: string, value: number): void {
  if (!(value > 0)) throw new TypeError(`${name} must be a number above 0, not ${value}`)
}

/** A path with those parameters that have a value. Throws TypeError for an unpaired surrogate in a text. */
export function pathOf(path: string, parameters: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    // It would be sent as another character.
    if (!String(value).isWellFormed())
      throw new TypeError(`${name} must be well-formed Unicode, without unpaired surrogates`)
    if (value !== undefined) query.set(name, String(value))
  }
  return `${path}?${query}`
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function hasName(value: unknown): boolean {
  return isObject(value) && typeof value['name'] === 'string'
}

export function isPlant(value: unknown): boolean {
  return hasName(value) && isObject(value) && typeof value['id'] === 'bigint'
}

export function isChange(value: unknown): boolean {
  if (!isObject(value)) return false
  return typeof value['position'] === 'string' && typeof value['kind'] === 'string' && isPlant(value['plant'])
}

export function isListOf(isItem: (value: unknown) => boolean) {
  return (value: unknown): boolean => Array.isArray(value) && value.every(isItem)
}

export function isSummary(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['tags'])
}
