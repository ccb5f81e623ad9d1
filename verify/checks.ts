// Checks for answers. Each describes what is wrong.

import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, errorNumbers, statusOf } from '../src/domain/errors.ts'
import type { JsonValue } from '../src/json/decode.ts'
import { type Answer, fieldOf, hasSucceeded, isJson, jsonOf } from './message.ts'
import type { NewPlant, Plant, Plants } from './plant.ts'
import type { AnswerCheck, Check } from './row.ts'

const int32Max = 2n ** 31n - 1n

export function status(...wanted: readonly number[]): AnswerCheck {
  return (answer) =>
    wanted.includes(answer.status) ? undefined : `the status is ${answer.status}, not ${wanted.join(' or ')}`
}

/** Any 4xx status. */
export const refusedSomehow: AnswerCheck = ({ status }) =>
  status >= 400 && status <= 499 ? undefined : `the status is ${status}; a refusal is 4xx`

export const notAccepted: Check = (answer) =>
  hasSucceeded(answer) ? `the status is ${answer.status}; the request must not succeed` : undefined

/**
 * A refusal with its status and number. Does not check that the body is an Error: otherwise a server with another body
 * would fail every refusal row.
 */
export function refusal(code: ErrorCode): readonly Check[] {
  return [
    status(statusOf(code)),
    (answer) => {
      const number = errorNumberOf(answer)
      if (number === undefined || number === BigInt(errorNumbers[code])) return undefined
      return `error is ${number}, not ${errorNumbers[code]} (${code})`
    },
  ]
}

/** The `error` of an Error body; undefined for other bodies, such as of an answer to HEAD. */
export function errorNumberOf(answer: Answer): bigint | undefined {
  if (!isJson(answer) || whyNoError(jsonOf(answer)) !== undefined) return undefined
  const { error } = jsonOf(answer) as { readonly error: bigint }
  return error
}

/** The body is an Error as application/json. */
export const isError: AnswerCheck = (answer) => whyNotJson(answer) ?? whyNoError(jsonOf(answer))

/** The body is an object with the sent properties. Others than those of the document are allowed, as in a Plant. */
export function isPlant(wanted: { readonly id?: bigint } & Plant): Check {
  return (answer, _before, plants) => {
    const value = jsonOf(answer)
    const wrong = whyNotJson(answer) ?? whyNoObject(value, 'Plant')
    return wrong ?? whyNotPlant(value as Record<string, JsonValue>, wanted, plants)
  }
}

/** What is wrong with the properties of a plant. Without an id, any id is right. */
export function whyNotPlant(
  plant: Readonly<Record<string, JsonValue>>,
  wanted: { readonly id?: bigint } & Plant,
  plants: Plants,
): string | undefined {
  const whys = Object.entries(plants.complete(wanted)).map(([key, value]) =>
    whyNotSame(key, Object.hasOwn(plant, key) ? plant[key] : undefined, value),
  )
  return whys.find((why) => why !== undefined)
}

/** The body is a list of at most this many plants. */
export function isListOf(plantsMax: number): Check {
  return (answer) => {
    const wrong = whyNotJson(answer)
    if (wrong !== undefined) return wrong
    const value = jsonOf(answer)
    if (!Array.isArray(value)) return 'the body is not an array'
    return value.length > plantsMax ? `there are ${value.length} plants in a page of at most ${plantsMax}` : undefined
  }
}

/**
 * The pages of a list contain exactly these plants, in this order, and each whole.
 *
 * @returns a check of the pages, or of their first plants.
 */
export function areListed(...plants: readonly NewPlant[]) {
  return (pages: readonly Answer[], known: Plants, count?: number): string | undefined => {
    const listed = plantsOf(pages).slice(0, count)
    const [came, wanted] = [listed.map(({ id }) => String(id)), plants.map(({ id }) => String(id))]
    if (came.join() !== wanted.join()) {
      const wrong = `the ids are ${came.join(', ') || 'none'}, not ${wanted.join(', ') || 'none'}`
      return `${wrong}${pages.length > 1 ? `, in ${pages.length} pages` : ''}`
    }
    const reasons = plants.map((plant, at) => {
      const why = whyNotPlant(listed[at] ?? {}, plant, known)
      return why && `of plant ${plant.id}, ${why}`
    })
    return reasons.find((why) => why !== undefined)
  }
}

/** The plants of all pages, in order. */
export function plantsOf(pages: readonly Answer[]): readonly Readonly<Record<string, JsonValue>>[] {
  return pages.flatMap(jsonOf).map((plant) => (plant ?? {}) as Record<string, JsonValue>)
}

export const hasNoBody: Check = ({ body }) =>
  body.length === 0 ? undefined : `the body has ${body.length} bytes, but must be empty`

/** @param wanted undefined if the field must be absent. */
export function field(name: string, wanted: string | RegExp | undefined): AnswerCheck {
  return (answer) => {
    const value = fieldOf(answer, name)
    if (value === undefined) return wanted === undefined ? undefined : `there is no ${name}`
    if (wanted === undefined) return `there is ${name}: ${value}, which must be absent`
    if (typeof wanted === 'string' ? value === wanted : wanted.test(value)) return undefined
    return `${name} is ${show(value)}, not ${typeof wanted === 'string' ? show(wanted) : `of the form ${wanted}`}`
  }
}

/** A list in a header field has exactly these members, in any order. */
export function members(name: string, ...wanted: readonly string[]): AnswerCheck {
  return (answer) => {
    const value = fieldOf(answer, name)
    const isSame = value !== undefined && membersOf(value).toSorted().join() === wanted.toSorted().join()
    return isSame ? undefined : (field(name, wanted.join(', '))(answer) ?? `${name} repeats a member`)
  }
}

/** The members of a list in a header field (RFC 9110, section 5.6.1). */
export function membersOf(value: string): readonly string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/**
 * A challenge of RFC 6750, section 3. It may have further parameters, such as error_description.
 *
 * @param error undefined if the request had no token.
 * @param scope the scope that the token does not have.
 */
export function challenge(error?: string, scope?: string): Check {
  return (answer) => {
    const value = fieldOf(answer, 'www-authenticate')
    if (value === undefined) return 'there is no WWW-Authenticate'
    if (!/^Bearer(?: |$)/i.test(value)) return `WWW-Authenticate is ${show(value)}, not a Bearer challenge`
    const parameters = parametersOf(value)
    const came = parameters.get('error')
    if (came !== error) {
      return `WWW-Authenticate has ${came === undefined ? 'no error' : `error=${show(came)}`}, not ${error ?? 'none'}`
    }
    const scopes = parameters.get('scope')?.split(' ') ?? []
    return scope === undefined || scopes.includes(scope) ? undefined : `the scope of WWW-Authenticate is not ${scope}`
  }
}

/** The parameters of a challenge (RFC 9110, section 11.2), by lower-case name. */
function parametersOf(challenge: string): ReadonlyMap<string, string> {
  const pairs = challenge.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)
  return new Map([...pairs].map(([, name = '', quoted, plain = '']) => [name.toLowerCase(), quoted ?? plain]))
}

/** The header field has a value that no earlier answer had. */
export function newField(name: string): Check {
  return (answer, before) => {
    const value = fieldOf(answer, name)
    const earlier = before.findIndex((each) => fieldOf(each, name) === value)
    return earlier === -1 ? undefined : `${name} is ${show(value ?? 'missing')}, as in answer ${earlier + 1}`
  }
}

/** The header field has the same value as in the answer to an earlier step. */
export function sameField(name: string, step: number): Check {
  return (answer, before) => {
    const earlier = before[step]
    const value = earlier === undefined ? undefined : fieldOf(earlier, name)
    return field(name, value)(answer)
  }
}

/** A Location, if present, leads to the plant below the server's base path. Another row checks that it is present. */
export function locates(id: bigint): AnswerCheck {
  return (answer) => {
    const location = fieldOf(answer, 'location')
    const isRight = location === undefined || new RegExp(`^(?:/[^/?]+)*/plants/${id}$`).test(location)
    return isRight ? undefined : `Location is ${show(location)}, which is not the path of plant ${id}`
  }
}

function whyNotJson(answer: Answer): string | undefined {
  const type = fieldOf(answer, 'content-type')
  if (!isJson(answer)) return `the Content-Type is ${type === undefined ? 'missing' : show(type)}, not application/json`
  return jsonOf(answer) === undefined ? 'the body is not JSON' : undefined
}

function whyNoObject(value: JsonValue | undefined, what: string): string | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? undefined : `the body is not a valid ${what}: it is not an object`
}

function whyNoError(value: JsonValue | undefined): string | undefined {
  const wrong = whyNoObject(value, 'Error')
  if (wrong !== undefined) return wrong
  const { error, message } = value as { error?: JsonValue; message?: JsonValue }
  const isInt32 = typeof error === 'bigint' && error <= int32Max && error >= -int32Max - 1n
  if (!isInt32) return `the body is not a valid Error: error is ${error === undefined ? 'missing' : 'not an int32'}`
  if (typeof message === 'string') return undefined
  return `the body is not a valid Error: message is ${message === undefined ? 'missing' : 'not a string'}`
}

function whyNotSame(key: string, came: JsonValue | undefined, wanted: JsonValue | undefined): string | undefined {
  if (isDeepStrictEqual(came, wanted)) return undefined
  if (wanted === undefined) return `${key} is present, but was not sent`
  return `${key} is ${came === undefined ? 'missing' : show(came)}, not ${show(wanted)}`
}

const shownCharactersMax = 100

function show(value: JsonValue): string {
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value, (_key, each) => bigintAsText(each))
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}...` : text
}

function bigintAsText(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
