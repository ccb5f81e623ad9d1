// JSON with exact integers: an integer that a number cannot hold becomes a bigint. Output is formatted for people, with
// short values on one line.

const lineLengthMax = 72

/** Parses JSON text. Throws SyntaxError, like JSON.parse, for a number that JavaScript cannot hold, such as 1e400, too. */
export function parseExact(text: string): unknown {
  // TypeScript does not know the source of a value yet.
  const revive: (...member: [string, unknown, { source: string }]) => unknown = (_key, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    if (!Number.isFinite(value)) throw new SyntaxError('too large')
    const digits = source.replace(/\.0+$/, '')
    return /^-?\d+$/.test(digits) ? BigInt(digits) : value
  }
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1])
}

/** Formats a value as JSON, over several lines if it is longer than `lengthMax`. */
export function printExact(value: unknown, indentation = '', lengthMax = lineLengthMax): string {
  const short = printLine(value)
  if (typeof value !== 'object' || value === null || indentation.length + short.length <= lengthMax) return short
  const inner = `${indentation}  `
  const parts = Array.isArray(value)
    ? value.map((item: unknown) => printExact(item, inner, lengthMax))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printExact(item, inner, lengthMax)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indentation}${close}`
}

/** Formats a text of JSON as `printExact` does; any other text stays. */
export function reprint(text: string, indentation?: string, lengthMax?: number): string {
  try {
    return printExact(parseExact(text), indentation, lengthMax)
  } catch {
    return text
  }
}

/** Formats a value as JSON on one line, with a gap between its parts. */
export function printLine(value: unknown, gap = ' '): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map((item) => printLine(item, gap)).join(`,${gap}`)}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${gap}${printLine(item, gap)}`)
  return parts.length === 0 ? '{}' : `{${gap}${parts.join(`,${gap}`)}${gap}}`
}
