// Plants as the rows send them and read them, and as a document has them.

import { isDeepStrictEqual } from 'node:util'
import type { Contract } from '../src/contract/contract.ts'
import { toJson } from '../src/contract/plant.ts'
import { AppError } from '../src/domain/errors.ts'
import { decodeJson, type JsonValue } from '../src/json/decode.ts'
import { limits } from '../src/limits.ts'
import { escapePattern, type RowRequest } from './message.ts'
import { makeSampler, schemasOfProperties } from './sampler.ts'

/** A plant without its id: the response to a create. */
export interface Plant {
  readonly name: string
  readonly tag?: string
}

export interface NewPlant extends Plant {
  readonly id: bigint
}

/** Serializes a plant as JSON, with the exact digits of its id. */
export function plantJson(id: bigint | string, name: string, tag?: string): string {
  const begun = `{"id":${id},"name":${JSON.stringify(name)}`
  return tag === undefined ? `${begun}}` : `${begun},"tag":${JSON.stringify(tag)}}`
}

type Properties = Readonly<Record<string, JsonValue | undefined>>
type Judge = (plant: Properties | undefined) => string | undefined

/** A property that the bundled document does not have. */
export interface FurtherProperty {
  readonly name: string
  readonly isRequired: boolean
  readonly sample: JsonValue
}

/**
 * The plants of a document. Rows are written for those of the bundled one, which have a name and perhaps a tag; what else
 * the document requires is added to each plant that is sent.
 */
export class Plants {
  /** Those that the bundled document does not have. */
  readonly further: readonly FurtherProperty[]
  readonly #contract: Contract
  readonly #bundled: Contract
  /** What a plant has unless a row says otherwise: a sample of what is required, undefined for the rest. */
  readonly #usual: Properties
  readonly #whyInvalid: Judge
  readonly #whyWasInvalid: Judge

  constructor(contract: Contract, bundled: Contract) {
    this.#contract = contract
    this.#bundled = bundled
    this.#whyInvalid = judgeOf(contract)
    this.#whyWasInvalid = judgeOf(bundled)
    const { body = {} } = contract.operations.find(({ id }) => id === 'createPlant') ?? {}
    const schemas = schemasOfProperties(contract.document, body)
    const sampleOf = makeSampler(contract.document)
    const others = contract.properties
      .filter(({ name }) => name !== 'id' && name !== 'name')
      .map(({ name, isRequired }) => ({ name, isRequired, sample: sampleOf(schemas.get(name) ?? {}) }))
    this.further = others.filter(({ name }) => !isOf(bundled, name))
    this.#usual = Object.fromEntries(
      others.map(({ name, isRequired, sample }) => [name, isRequired ? sample : undefined]),
    )
  }

  /** The plant that a server has of one that a row sent. */
  complete(plant: Partial<NewPlant>): Properties {
    return { ...this.#usual, ...plant }
  }

  fillIn(request: RowRequest): RowRequest {
    return request.body === undefined ? request : { ...request, body: this.fill(request.body) }
  }

  /** Adds to a body, if it is an object, what its plant lacks. The rest stays as it is written. */
  fill<Body extends string | Buffer>(body: Body): Body
  fill(body: string | Buffer): string | Buffer {
    if (typeof body !== 'string') return Buffer.from(this.fill(body.toString('latin1')), 'latin1')
    const [start] = /^\s*\{/.exec(body) ?? []
    const lacking = Object.entries(this.#usual).filter(([name, value]) => value !== undefined && !hasKey(body, name))
    if (start === undefined || lacking.length === 0) return body
    const rest = body.slice(start.length)
    const members = lacking.map(([name, value]) => inAscii(`${JSON.stringify(name)}:${toJson(value)}`))
    return `${start}${members.join()}${/^\s*(?:\}|$)/.test(rest) ? '' : ','}${rest}`
  }

  /** The bounds of a name or a tag, in characters. */
  lengthsOf(property: 'name' | 'tag'): { readonly min: number; readonly max: number } {
    const [own, bundled] = [this.#contract, this.#bundled].map(
      ({ properties }) => properties.find(({ name }) => name === property)?.schema,
    )
    const { minLength = 0, maxLength = bundled?.['maxLength'] } = own ?? {}
    return { min: Number(minLength), max: Number(maxLength) }
  }

  /** Why a request says nothing about a server of the document; undefined if it does. */
  whyNot({ method = 'POST', target = '/plants', body, isInvalid = false }: RowRequest): string | undefined {
    const isPlant = body !== undefined && (method === 'POST' || method === 'PUT')
    if (!isPlant || this.#contract.json === this.#bundled.json) return undefined
    const id = idIn(target)
    const [sent, filled] = [decode(body, id), decode(this.fill(body), id)]
    const was = this.#whyWasInvalid(sent) ?? (isInvalid ? 'the plant is beyond its bounds' : undefined)
    const is = this.#whyInvalid(filled)
    if (was === undefined && is !== undefined) return `a plant that it sends is not valid by the document: ${is}`
    if (was !== undefined && is === undefined) return `the document accepts what the bundled one does not: ${was}`
    if (was !== undefined) return undefined
    const name = Object.keys(sent ?? {}).find((each) => this.#isOfOne(each, sent?.[each]))
    return name && `the document has ${isOf(this.#contract, name) ? 'a' : 'no'} property ${name}`
  }

  #isOfOne(name: string, value: JsonValue | undefined): boolean {
    const isSample = this.further.some((each) => each.name === name && isDeepStrictEqual(each.sample, value))
    return isOf(this.#contract, name) !== isOf(this.#bundled, name) && !isSample
  }
}

function isOf({ properties }: Contract, property: string): boolean {
  return properties.some(({ name }) => name === property)
}

function idIn(target: string): bigint | undefined {
  const digits = /^\/plants\/(-?\d+)$/.exec(target)?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

/** The plant in a body; undefined if the body is no object of JSON. */
function decode(body: string | Buffer, id: bigint | undefined): Properties | undefined {
  try {
    const value = decodeJson(Buffer.from(body), limits.jsonDepthMax)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return id === undefined ? (value as Properties) : { ...value, id }
  } catch {
    return undefined
  }
}

/** Says the first thing that is wrong with a plant; undefined for a valid one. */
function judgeOf(contract: Contract): Judge {
  const read = contract.plantReader('the body')
  return (plant) => {
    try {
      read(plant)
      return undefined
    } catch (error) {
      if (error instanceof AppError) return error.message.split(';', 1)[0]
      throw error
    }
  }
}

function hasKey(body: string, name: string): boolean {
  const key = JSON.stringify(name)
  return [key, inAscii(key)].some((each) => new RegExp(`${escapePattern(each)}\\s*:`).test(body))
}

function inAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
