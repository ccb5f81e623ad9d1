// Converts plants to and from JSON with exact ids; a JavaScript number would round those beyond 2^53.

/** An id, exact: a bigint, decimal digits, or a number that is a safe integer. */
export type PlantId = bigint | number | string

/** Matches a key `id` with an integer, or any string, so that nothing inside a string is taken for a key. */
const idsAndStrings = /"id"\s*:\s*(-?\d+)(?![\d.eE])|"[^"\\]*(?:\\.[^"\\]*)*"/g
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

/**
 * Formats a plant as JSON. Digits that are not an integer are sent as a string, so that the server explains the error.
 */
export function plantToJson(plant: { readonly id?: PlantId; readonly name: string; readonly tag?: string }): string {
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
