// Checks for answers. Each describes what is wrong.

import { isDeepStrictEqual } from 'node:util'
import { type JsonValue, toJson } from './json.ts'
import { type Answer, fieldOf, isJson, jsonOf, membersOf, objectOf } from './message.ts'
import type { NewPlant, Plants } from './plant.ts'

/** Returns what is wrong with an answer, or undefined. */
export type Check = (answer: Answer, plants: Plants) => string | undefined
/** A check that needs nothing but the answer. */
export type AnswerCheck = (answer: Answer) => string | undefined

type Properties = Readonly<Record<string, JsonValue | undefined>>

export function status(...wanted: readonly number[]): AnswerCheck {
  return ({ status }) => (wanted.includes(status) ? undefined : `the status is ${status}, not ${wanted.join(' or ')}`)
}

export const ok: readonly Check[] = [status(200)]

/** Any 4xx status. */
export const refusedSomehow: AnswerCheck = ({ status }) =>
  status >= 400 && status <= 499 ? undefined : `the status is ${status}; a refusal is 4xx`

export const notAccepted: AnswerCheck = ({ status }) =>
  status < 300 ? `the status is ${status}; the request must not succeed` : undefined

/**
 * A refusal with its status and number. Does not check that the body is an Error: otherwise a server with another body
 * would fail every refusal row.
 *
 * @param code the name of the error in the document.
 */
export function refusal(code: string): readonly Check[] {
  const check: Check = (answer, plants) => {
    const [number, wanted] = [errorNumberOf(answer), plants.errorOf(code)]
    const isRight = number === undefined || number === BigInt(wanted)
    const why = isRight ? undefined : `error is ${number}, not ${wanted} (${code})`
    return status(Math.floor(wanted / 100))(answer) ?? why
  }
  return [check]
}

/** The number of an Error; undefined for other bodies, such as of an answer to HEAD. */
export function errorNumberOf(answer: Answer): bigint | undefined {
  const { error } = objectOf(answer)
  return typeof error === 'bigint' ? error : undefined
}

/** The body is application/json, and valid by a schema of the document. */
export function isOf(name: 'Error' | 'Summary'): Check {
  const schema = { $ref: `#/components/schemas/${name}` }
  return (answer, { judge }) => {
    const why = whyNotJson(answer) ?? judge.whyNot(schema, jsonOf(answer) as JsonValue, 'the body')
    return why && `${why}: the body is not a valid ${name}`
  }
}

export const isError = isOf('Error')

/** The body is an object with the sent properties. Further properties are allowed, as in a Plant. */
export function isPlant(wanted: Partial<NewPlant>): Check {
  return (answer, plants) => whyNotJson(answer) ?? whyNotPlant(objectOf(answer), wanted, plants)
}

/** What is wrong with the properties of a plant. Without an id, any id is right. */
export function whyNotPlant(plant: Properties, wanted: Partial<NewPlant>, plants: Plants): string | undefined {
  for (const [key, due] of Object.entries(plants.complete(wanted))) {
    const came = Object.hasOwn(plant, key) ? plant[key] : undefined
    if (isDeepStrictEqual(came, due)) continue
    if (due === undefined) return `${key} is present, but was not sent`
    return `${key} is ${came === undefined ? 'missing' : show(came)}, not ${show(due)}`
  }
  return undefined
}

/** The answer to a create. A Location, if present, leads to the plant below the server's base path. */
export function isCreated({ id, ...plant }: NewPlant): readonly Check[] {
  const locates: AnswerCheck = (answer) => {
    // Another row checks that it is present.
    const location = fieldOf(answer, 'location')
    const isRight = location === undefined || new RegExp(`^(?:/[^/?]+)*/plants/${id}$`).test(location)
    return isRight ? undefined : `Location is ${show(location)}, which is not the path of plant ${id}`
  }
  return [status(200), isPlant(plant), locates]
}

/** What is wrong with a list: it must have exactly these plants, in this order, and each whole. */
export function whyNotListed(listed: readonly Properties[], plants: readonly NewPlant[], known: Plants) {
  const [came, wanted] = [listed.map(({ id }) => String(id)), plants.map(({ id }) => String(id))]
  if (came.join() !== wanted.join())
    return `the ids are ${came.join(', ') || 'none'}, not ${wanted.join(', ') || 'none'}`
  const reasons = plants.map((plant, at) => {
    const why = whyNotPlant(listed[at] ?? {}, plant, known)
    return why && `of plant ${plant.id}, ${why}`
  })
  return reasons.find((why) => why !== undefined)
}

export const hasNoBody: AnswerCheck = ({ body }) =>
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

/** Whether a time is that of now, by a clock that may be 15 minutes wrong; a wrong time zone differs by more. */
export function isOfNow(time: string): boolean {
  return Math.abs(Date.parse(time) - Date.now()) < 900_000
}

/** The header field has the same value as in an earlier answer. */
export function sameField(name: string, earlier: Answer): AnswerCheck {
  return field(name, fieldOf(earlier, name))
}

/** The header field has another value than in an earlier answer. */
export function otherField(name: string, earlier: Answer): AnswerCheck {
  return (answer) => (field(name, fieldOf(earlier, name))(answer) ? undefined : `${name} is that of an earlier answer`)
}

/**
 * The ETag is that of an earlier answer exactly if the content is.
 *
 * @param earlier the contents of earlier answers by their ETags, the latest at the end. Adds this one.
 */
export function etagFor(content: string, earlier: Map<string, string>): AnswerCheck {
  return (answer) => {
    const etag = fieldOf(answer, 'etag') ?? ''
    const [known, other] = [...earlier].find((each) => (each[0] === etag) !== (each[1] === content)) ?? []
    if (known !== undefined) return `ETag is ${etag}, ${known === etag ? 'as for' : 'other than for the same'} ${other}`
    earlier.delete(etag)
    earlier.set(etag, content)
    return undefined
  }
}

/** A list in a header field has exactly these members, in any order. */
export function members(name: string, ...wanted: readonly string[]): AnswerCheck {
  return (answer) => {
    const came = [...new Set(membersOf(fieldOf(answer, name)))]
    const isSame = came.toSorted().join() === wanted.toSorted().join()
    return isSame ? undefined : `${name} is ${came.join(', ') || 'missing'}, not ${wanted.join(', ')}`
  }
}

/** A list in a header field has these members, among others, in any case, or a star, which never means Authorization. */
export function includes(name: string, ...wanted: readonly string[]): AnswerCheck {
  return (answer) => {
    const came = membersOf(fieldOf(answer, name)?.toLowerCase())
    const isIn = (each: string): boolean =>
      came.includes(each.toLowerCase()) || (came.includes('*') && each !== 'Authorization')
    const missing = wanted.find((each) => !isIn(each))
    return missing && `${name} is ${came.join(', ') || 'missing'}, without ${missing}`
  }
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
    // RFC 9110, section 11.2.
    const pairs = value.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)
    const parameters = new Map([...pairs].map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain]))
    const came = parameters.get('error')
    if (came !== error) return `WWW-Authenticate has error=${came ?? 'none'}, not ${error ?? 'none'}`
    const isNamed = scope === undefined || parameters.get('scope')?.split(' ').includes(scope) === true
    return isNamed ? undefined : `the scope of WWW-Authenticate is not ${scope}`
  }
}

function whyNotJson(answer: Answer): string | undefined {
  const type = fieldOf(answer, 'content-type')
  if (!isJson(answer)) return `the Content-Type is ${type === undefined ? 'missing' : show(type)}, not application/json`
  return jsonOf(answer) === undefined ? 'the body is not JSON' : undefined
}

const shownCharactersMax = 100

function show(value: JsonValue): string {
  const text = toJson(value)
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}...` : text
}
