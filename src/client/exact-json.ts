// Ids, exact, in JSON and in paths; a JavaScript number would round those beyond 2^53.

/** An id, exact: a bigint, decimal digits, or a number that is a safe integer. */
export type PlantId = bigint | number | string

/**
 * Matches a key `id` with an integer, or any string, so that nothing inside a string is taken for a key. A string always
 * matches, if need be to the end of the text: otherwise a text of many quotes would take quadratic time.
 */
const idsAndStrings = /"id"\s*:\s*(-?\d{1,19})(?![\d.eE])|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gs
/** Prefixes the digits of an id during JSON.parse. No text of a plant begins with it. */
const mark = '\u0000'
const integer = /^(?:0|-?[1-9]\d*)$/

/** The digits of an id. Throws TypeError for a number that may already be rounded. */
export function idDigits(id: PlantId): string {
  if (typeof id === 'number' && !Number.isSafeInteger(id)) {
    throw new TypeError(`an id must be a bigint, a safe integer or decimal digits, not the number ${id}`)
  }
  return String(id)
}

/** The path of a plant. Throws TypeError for an id that is no segment of a path. */
export function plantPath(id: PlantId): string {
  const digits = idDigits(id)
  // These would be dot segments or an empty segment of the path.
  if (/^\.{0,2}$/.test(digits)) throw new TypeError(`an id must be an integer, not ${JSON.stringify(digits)}`)
  return `/plants/${encodeURIComponent(digits)}`
}

interface Sent {
  readonly id?: PlantId
  readonly name: string
  readonly tag?: string | undefined
}

/**
 * Formats a plant as JSON. Digits that are not an integer are sent as a string, so that the server explains the error.
 */
export function plantToJson(plant: Sent): string {
  const { id, name, tag } = plant
  const rest = JSON.stringify({ name, tag })
  if (id === undefined) return rest
  const digits = idDigits(id)
  const comma = rest === '{}' ? '' : ','
  return `{"id":${integer.test(digits) ? digits : JSON.stringify(digits)}${comma}${rest.slice(1)}`
}

/** Parses JSON; each integer `id` becomes a bigint. Throws SyntaxError. */
export function fromJson(text: string): unknown {
  const marked = text.replace(idsAndStrings, (part, digits?: string) =>
    digits === undefined ? part : `"id":"\\u0000${digits}"`,
  )
  return JSON.parse(marked, (key, value) =>
    key === 'id' && typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}
