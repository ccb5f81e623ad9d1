// Plants as the rows send and read them, and as a document describes them.

import { isDeepStrictEqual } from 'node:util'
import { type Document, quote } from './document.ts'
import { int64Max, int64Min } from './ids.ts'
import { type JsonValue, toJson } from './json.ts'
import { escapePattern, jsonOf, type RowRequest } from './message.ts'
import { makeSampler } from './sampler.ts'
import { type Judge, merged, type Schema } from './schemas.ts'

/** A plant without its id: the response to a create. */
export interface Plant {
  readonly name: string
  readonly tag?: string
}

export interface NewPlant extends Plant {
  readonly id: bigint
}

/** What some programs lose, change or escape wrongly, wherever they write a text. */
export const hardText = ' <b>&amp;\'"\\/%41 \u0001\b\f\n\r\t\u007f\u0085\u00a0\u2028\ufeff e\u0301 🌿\uffff '

/** Serializes a plant as JSON, with the exact digits of its id. */
export function plantJson(id: bigint | string, name: string, tag?: string): string {
  const begun = `{"id":${id},"name":${JSON.stringify(name)}`
  return tag === undefined ? `${begun}}` : `${begun},"tag":${JSON.stringify(tag)}}`
}

type Properties = Readonly<Record<string, JsonValue | undefined>>

/** A property that the bundled document does not have. */
interface FurtherProperty {
  readonly name: string
  readonly isRequired: boolean
  readonly sample: JsonValue
}

/**
 * The plants of a document. Rows are written for those of the bundled one, which have a name and perhaps a tag; what else
 * the document requires is added to each plant that is sent.
 */
export class Plants {
  readonly document: Document
  /** Validates values by the schemas of the document. */
  readonly judge: Judge
  /** Properties that the bundled document does not have. */
  readonly further: readonly FurtherProperty[]
  /** Makes a sample of a schema. */
  readonly sampleOf: (schema: Schema) => JsonValue
  readonly #bundled: Document
  /** The properties of a plant unless a row sets others: a sample of each required one, undefined for the rest. */
  readonly #usual: Properties

  constructor(document: Document, bundled: Document) {
    this.document = document
    this.judge = document.judge
    this.#bundled = bundled
    this.sampleOf = makeSampler(document.root, this.judge)
    const others = document.properties
      .filter(({ name }) => name !== 'id' && name !== 'name')
      .map(({ name, isRequired, schema }) => ({ name, isRequired, sample: this.sampleOf(schema) }))
    this.further = others.filter(({ name }) => !isOf(bundled, name))
    this.#usual = Object.fromEntries(
      others.map(({ name, isRequired, sample }) => [name, isRequired ? sample : undefined]),
    )
  }

  /** What the bundled document says at a place. */
  quote(place: string): string {
    return quote(this.#bundled.root, place)
  }

  /** The number of an error, such as 40901 for idTaken. */
  errorOf(code: string): number {
    const number = this.document.errors.get(code)
    if (number === undefined) throw new TypeError(`the document has no error ${code}`)
    return number
  }

  /** The plant that a server must have after a row sent one. */
  complete(plant: Partial<NewPlant>): Properties {
    return { ...this.#usual, ...plant }
  }

  fillIn(request: RowRequest): RowRequest {
    return request.body === undefined ? request : { ...request, body: this.fill(request.body) }
  }

  /** Adds the required properties that a body lacks, if it is an object. The rest stays as it is written. */
  fill<Body extends string | Buffer>(body: Body): Body
  fill(body: string | Buffer): string | Buffer {
    if (typeof body !== 'string') return Buffer.from(this.fill(body.toString('latin1')), 'latin1')
    const [start] = /^\s*\{/.exec(body) ?? []
    const hasKey = (name: string): boolean => {
      const key = JSON.stringify(name)
      return [key, inAscii(key)].some((each) => new RegExp(`${escapePattern(each)}\\s*:`).test(body))
    }
    const lacking = Object.entries(this.#usual).filter(([name, value]) => value !== undefined && !hasKey(name))
    if (start === undefined || lacking.length === 0) return body
    const rest = body.slice(start.length)
    const members = lacking.map(([name, value]) => inAscii(`${JSON.stringify(name)}:${toJson(value)}`))
    return `${start}${members.join()}${/^\s*(?:\}|$)/.test(rest) ? '' : ','}${rest}`
  }

  /** The bounds of a name or a tag, in characters. */
  lengthsOf(property: 'name' | 'tag'): { readonly min: number; readonly max: number } {
    const [own, bundled] = [schemaOf(this.document, property), schemaOf(this.#bundled, property)]
    return { min: Number(own['minLength'] ?? 0), max: Number(own['maxLength'] ?? bundled['maxLength']) }
  }

  /** Why a request cannot test a server of the document; undefined if it can. */
  whyNot({ method = 'POST', target = '/plants', body, isInvalid = false }: RowRequest): string | undefined {
    const isPlant = body !== undefined && (method === 'POST' || method === 'PUT')
    const sent = isPlant && !this.document.isBundled ? decode(this.fill(body), target) : undefined
    if (sent === undefined) return undefined
    const isOwn = (name: string): boolean => isOf(this.document, name)
    // A server judges what it would keep, too.
    const kept = Object.fromEntries(Object.entries(sent).filter(([name]) => isOwn(name)))
    const why = this.#whyInvalid(sent) ?? this.#whyInvalid(kept)
    if (isInvalid) return why === undefined ? 'the document accepts what the bundled one does not' : undefined
    if (why !== undefined) return `a plant that it sends is not valid by the document: ${why}`
    const isUsual = (name: string): boolean =>
      this.further.some((each) => each.name === name && isDeepStrictEqual(each.sample, sent[name]))
    const name = Object.keys(sent).find((each) => isOwn(each) !== isOf(this.#bundled, each) && !isUsual(each))
    return name && `the document has ${isOwn(name) ? 'a' : 'no'} property ${name}`
  }

  /** The first thing that is wrong with a plant. */
  #whyInvalid(plant: Properties): string | undefined {
    const { id } = plant
    // The judge sees a rounded id, and a fraction as an integer.
    if (typeof id === 'number') return 'id: must be integer'
    const { multipleOf: step } = schemaOf(this.document, 'id')
    if (typeof id === 'bigint' && (id < int64Min || id > int64Max)) return 'id: must be an int64'
    if (typeof id === 'bigint' && typeof step === 'bigint' && id % step !== 0n) return `id: must be multiple of ${step}`
    return this.judge.whyNot(this.document.plant, plant as JsonValue, 'the body')
  }
}

function schemaOf({ root, properties }: Document, property: string): Schema {
  return merged(root, properties.find(({ name }) => name === property)?.schema ?? {})
}

function isOf({ properties }: Document, property: string): boolean {
  return properties.some(({ name }) => name === property)
}

/** The plant in a body, with the id of the path, if it has one; undefined if the body is not a JSON object. */
function decode(body: string | Buffer, target: string): Properties | undefined {
  const value = jsonOf({ body: Buffer.from(body) })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [, digits] = /^\/plants\/(-?\d+)$/.exec(target) ?? []
  return digits === undefined ? value : { ...value, id: BigInt(digits) }
}

function inAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
