// Exact integers in JSON and in paths; a JavaScript number would round those beyond 2^53.

/** An exact id: a bigint, decimal digits, or a number that is a safe integer. */
export type PlantId = bigint | number | string

/**
 * Matches a key `id` with an integer, or any number or string, so that nothing inside a string is taken for either. A
 * string always matches, if need be to the end of the text: otherwise a text of many quotes would take quadratic time.
 */
const idsAndOthers = /"id"\s*:\s*(-?\d{1,19})(?![\d.eE])|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|-?\d[\d.eE+-]*/gs
/** The digits of a bigint during JSON.parse, after a NUL, which no text of a plant contains. */
const marked = /^\0(-?\d+)$/
const integer = /^(?:0|-?[1-9]\d*)$/
/** JSON.parse turns a longer integer into Infinity. */
const digitsMax = 400

/** The digits of an id. Throws TypeError for a number that may already be rounded. */
export function idDigits(id: PlantId): string {
  if (typeof id === 'number' && !Number.isSafeInteger(id)) {
    throw new TypeError(`an id must be a bigint, a safe integer or decimal digits, not the number ${id}`)
  }
  return String(id)
}

/** The path of a plant. Throws TypeError for an id that cannot be a path segment. */
export function plantPath(id: PlantId): string {
  const digits = idDigits(id)
  // These would be dot segments or an empty segment of the path.
  if (/^\.{0,2}$/.test(digits)) throw new TypeError(`an id must be an integer, not ${JSON.stringify(digits)}`)
  return `/plants/${encodeURIComponent(digits)}`
}

/** Formats a plant without its ETag. An id that is no integer is sent as a string, so that the server explains it. */
export function plantToJson(plant: object, isSorted = false): string {
  const { id, etag: _, ...properties } = plant as { readonly id?: PlantId; readonly etag?: unknown }
  const digits = id === undefined ? undefined : idDigits(id)
  const exactId = digits !== undefined && integer.test(digits) ? BigInt(digits) : digits
  return toJson({ id: exactId, ...properties }, isSorted) ?? ''
}

/** JSON.stringify, with the exact digits of each bigint. */
function toJson(value: unknown, isSorted: boolean): string | undefined {
  if (typeof value === 'bigint') return String(value)
  const isOwn =
    typeof value === 'object' && value !== null && !('toJSON' in value && typeof value.toJSON === 'function')
  if (!isOwn) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => toJson(item, isSorted) ?? 'null').join()}]`
  const names = isSorted ? Object.keys(value).sort() : Object.keys(value)
  const members = names.map((name) => {
    const text = toJson(Reflect.get(value, name), isSorted)
    return text === undefined ? [] : `${JSON.stringify(name)}:${text}`
  })
  return `{${members.flat().join()}}`
}

/** Parses JSON; each integer `id`, and each other integer beyond 2^53, becomes a bigint. Throws SyntaxError. */
export function fromJson(text: string): unknown {
  const exact = text.replace(idsAndOthers, (part, id?: string) => {
    if (id !== undefined) return `"id":"\\u0000${id}"`
    const isExact = part.length > digitsMax || !integer.test(part) || Number.isSafeInteger(Number(part))
    return isExact ? part : `"\\u0000${part}"`
  })
  return JSON.parse(exact, (_key, value) => {
    const digits = typeof value === 'string' ? marked.exec(value)?.[1] : undefined
    return digits === undefined ? value : BigInt(digits)
  })
}
