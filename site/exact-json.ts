// JSON with exact integers: one that a number cannot hold is a bigint. Written as people read it, short values on a line.

const lineLengthMax = 72

/** A string, or a number; nothing of a string is taken for a number so. */
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Put before the digits of an integer that travels as a string. It cannot come so in JSON, which would escape it. */
const mark = '\u0000'

/** Parses a JSON text. Throws a SyntaxError as JSON.parse does. */
export function parseExact(text: string): unknown {
  const marked = text.replace(token, (part) => (isInexact(part) ? `"\\u0000${part}"` : part))
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) && isInexact(value.slice(1)) ? BigInt(value.slice(1)) : value,
  )
}

function isInexact(part: string): boolean {
  return /^-?\d+$/.test(part) && !Number.isSafeInteger(Number(part))
}

/** The JSON text of a value, over several lines when it is long. */
export function printExact(value: unknown, indentation = ''): string {
  const short = printLine(value)
  if (typeof value !== 'object' || value === null || indentation.length + short.length <= lineLengthMax) return short
  const inner = `${indentation}  `
  const parts = Array.isArray(value)
    ? value.map((item: unknown) => printExact(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printExact(item, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indentation}${close}`
}

/** The JSON text of a value on one line. */
export function printLine(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(printLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printLine(item)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
