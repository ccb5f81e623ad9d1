// A strict JSON decoder (RFC 8259) for untrusted input, with exact integers and bounded nesting.
// docs/decisions/0002-own-json-decoder.md explains why it is neither JSON.parse nor a library.

import { isUtf8 } from 'node:buffer'
import { AppError } from '../domain/errors.ts'

/**
 * An integer of up to 40 digits, in any notation (`7`, `7.0`, `70e-1`), is a bigint. Any other number is a JavaScript
 * number. The own properties of an object are exactly the keys of the text.
 */
export type JsonValue = null | boolean | bigint | number | string | JsonValue[] | { [key: string]: JsonValue }

const integerDigitsMax = 40

/**
 * Decodes one JSON text.
 *
 * @param bytes UTF-8 without a byte order mark.
 * @param depthMax maximum nesting of arrays and objects.
 * @throws AppError `invalidJson`, whose message contains the position in bytes from 0. For a syntax error, this is the
 * first byte that no JSON text could have there, or the length of a truncated text.
 */
export function decodeJson(bytes: Buffer, depthMax: number): JsonValue {
  if (!isUtf8(bytes)) throw new AppError('invalidJson', `not valid UTF-8 at byte ${findInvalidByte(bytes)}`)
  return decodeText(bytes.toString('utf8'), depthMax)
}

/** Decodes one JSON text as `decodeJson` does. */
export function decodeText(text: string, depthMax: number): JsonValue {
  return new Decoder(text, depthMax).decode()
}

const code = {
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const

const numberGrammar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
/** The longest prefix of a valid number. */
const numberStart = /-?(?:(?:0|[1-9][0-9]*)(?:\.(?:[0-9]+(?:[eE][+-]?[0-9]*)?)?|[eE][+-]?[0-9]*)?)?/y
const stringGrammar = /"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"/y
/** The longest prefix of a valid string, including an incomplete escape at its end. */
const stringStart = /"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*(\\(?:u[0-9A-Fa-f]{0,3})?)?/y
const needsCare = /[\\\u0000-\u001f]/
const words = ['true', 'false', 'null'] as const

class Decoder {
  readonly #text: string
  readonly #depthMax: number
  #at = 0
  #depth = 0
  #numberAt = 0

  constructor(text: string, depthMax: number) {
    this.#text = text
    this.#depthMax = depthMax
  }

  decode(): JsonValue {
    if (this.#text.startsWith('\ufeff')) throw this.#invalid('there is a byte order mark')
    const value = this.#value()
    if (!Number.isNaN(this.#next())) throw this.#expectedAfterValue('the end of the text')
    return value
  }

  #value(): JsonValue {
    const next = this.#next()
    if (next === code.quote) return this.#string()
    if (next === code.openBrace) return this.#object()
    if (next === code.openBracket) return this.#array()
    if (next === code.minus || (next >= code.zero && next <= code.nine)) return this.#number()
    if (this.#skip('true')) return true
    if (this.#skip('false')) return false
    if (this.#skip('null')) return null
    throw this.#brokenWord()
  }

  #object(): { [key: string]: JsonValue } {
    const object: { [key: string]: JsonValue } = {}
    this.#enter()
    if (this.#next() === code.closeBrace) return this.#leave(object)
    for (;;) {
      if (this.#next() !== code.quote) throw this.#expected('a key in double quotes')
      const keyAt = this.#at
      const key = this.#string()
      if (Object.hasOwn(object, key)) {
        this.#at = keyAt
        throw this.#invalid(`the key ${show(key)} appears twice in one object`)
      }
      if (this.#next() !== code.colon) throw this.#expected('a colon')
      this.#at += 1
      setOwn(object, key, this.#value())
      const next = this.#next()
      if (next === code.closeBrace) return this.#leave(object)
      if (next !== code.comma) throw this.#expectedAfterValue('a comma or a closing brace')
      this.#at += 1
    }
  }

  #array(): JsonValue[] {
    const array: JsonValue[] = []
    this.#enter()
    if (this.#next() === code.closeBracket) return this.#leave(array)
    for (;;) {
      array.push(this.#value())
      const next = this.#next()
      if (next === code.closeBracket) return this.#leave(array)
      if (next !== code.comma) throw this.#expectedAfterValue('a comma or a closing bracket')
      this.#at += 1
    }
  }

  #enter(): void {
    this.#depth += 1
    if (this.#depth > this.#depthMax) {
      throw this.#invalid(`arrays and objects are nested more than ${this.#depthMax} deep`)
    }
    this.#at += 1
  }

  #leave<T>(value: T): T {
    this.#depth -= 1
    this.#at += 1
    return value
  }

  /** Most strings have neither escapes nor control characters, so that one slice suffices. */
  #string(): string {
    const start = this.#at + 1
    const end = this.#text.indexOf('"', start)
    if (end !== -1) {
      const plain = this.#text.slice(start, end)
      if (!needsCare.test(plain)) {
        this.#at = end + 1
        return plain
      }
    }
    const literal = this.#match(stringGrammar)
    if (literal !== '') return JSON.parse(literal)
    stringStart.lastIndex = this.#at
    const [begun = '', broken] = stringStart.exec(this.#text) ?? []
    this.#at += begun.length
    if (broken === undefined) throw this.#expected('a character of a string or its closing quote')
    throw this.#expected(broken === '\\' ? 'one of "\\/bfnrtu after a backslash' : 'four hexadecimal digits after \\u')
  }

  #number(): bigint | number {
    this.#numberAt = this.#at
    const literal = this.#match(numberGrammar)
    if (literal === '') throw this.#brokenNumber()
    return toExactInteger(literal) ?? Number(literal)
  }

  /** Skips white space and returns the code of the next character; NaN at the end of the text. */
  #next(): number {
    for (;;) {
      const next = this.#text.charCodeAt(this.#at)
      if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return next
      this.#at += 1
    }
  }

  #skip(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #match(sticky: RegExp): string {
    sticky.lastIndex = this.#at
    const match = sticky.exec(this.#text)?.[0] ?? ''
    this.#at += match.length
    return match
  }

  /** If the unexpected character directly continues a number, such as `01`, reports the number instead. */
  #expectedAfterValue(what: string): AppError {
    if (!/[0-9][.0-9eE]/.test(this.#text.slice(this.#at - 1, this.#at + 1))) return this.#expected(what)
    this.#at = this.#numberAt
    return this.#brokenNumber()
  }

  /** Reports the first character that differs from the word `true`, `false` or `null`. */
  #brokenWord(): AppError {
    const word = words.find((each) => each.startsWith(this.#text.charAt(this.#at) || ' '))
    if (word === undefined) return this.#expected('a value')
    for (const letter of word) if (!this.#skip(letter)) break
    return this.#expected(`the word ${word}`)
  }

  /** Reports the first character that breaks a number. */
  #brokenNumber(): AppError {
    return this.#expected(/[0-9]$/.test(this.#match(numberStart)) ? 'the end of the number' : 'a digit')
  }

  #expected(what: string): AppError {
    const found = this.#text.codePointAt(this.#at)
    const instead = found === undefined ? 'but the text ends' : `got ${show(String.fromCodePoint(found))}`
    return new AppError('invalidJson', `not valid JSON: expected ${what} at ${this.#position()}, ${instead}`)
  }

  #invalid(why: string): AppError {
    return new AppError('invalidJson', `not valid JSON: ${why} at ${this.#position()}`)
  }

  /** In bytes, which all programming languages count in the same way. */
  #position(): string {
    return `byte ${Buffer.byteLength(this.#text.slice(0, this.#at))}`
  }
}

/** The start of the first invalid UTF-8 sequence: the first byte that differs after decoding to U+FFFD and encoding. */
function findInvalidByte(bytes: Buffer): number {
  const mended = Buffer.from(bytes.toString('utf8'))
  const different = bytes.findIndex((byte, index) => byte !== mended[index])
  let at = different === -1 ? bytes.length : different
  // The first bytes may match those of U+FFFD: go back to the start of the character.
  while (((mended[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}

/** The exact value of a JSON number if it is an integer of at most 40 digits. */
function toExactInteger(literal: string): bigint | undefined {
  if (literal.length <= integerDigitsMax && /^-?[0-9]+$/.test(literal)) return BigInt(literal)
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return 0n
  // A regular expression for trailing zeros would take quadratic time.
  let end = digits.length
  while (digits.charCodeAt(end - 1) === code.zero) end -= 1
  const significant = digits.slice(0, end)
  const zeros = Number(exponent) - fraction.length + (digits.length - end)
  if (zeros < 0 || significant.length + zeros > integerDigitsMax) return undefined
  const value = BigInt(significant + '0'.repeat(zeros))
  return literal.startsWith('-') ? -value : value
}

/** Sets an own property. A plain assignment to `__proto__` would change the prototype instead. */
function setOwn(object: { [key: string]: JsonValue }, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

function show(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text)
}
