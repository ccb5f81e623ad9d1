// A user's document (`--document`): a copy of the plant store's sample, with other properties of plants. The server
// serves its bundled document with the plants and the `info` of the user's. docs/document.md lists what is copied and
// what is rejected.

import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { isScalar, parseDocument, stringify, visit } from 'yaml'
import { AppError, codeOf, messageOf, OperatorError, SettingError } from '../domain/errors.ts'
import { escapeControls } from '../domain/shown.ts'
import { decodeText } from '../json/decode.ts'
import { compilePlant } from './compile.ts'
import { follow } from './document.ts'
import { plantSchemas } from './own-schemas.ts'
import { toJson } from './plant.ts'
import { isObject, mapValues, type Schema } from './schemas.ts'

const bytesMax = 1_000_000
const depthMax = 64
const valuesMax = 100_000
const aliasesMax = 1_000

/** Puts the plants of a user's document into the bundled one. Throws SettingError that names the file and the place. */
export function readOwn(file: string, bundled: Schema) {
  try {
    const document = mergeDocument(bundled, simplify(parse(file)))
    const plantValidator = compilePlant(document)
    return { document, json: `${toJson(document, 2)}\n`, yaml: stringify(document, { lineWidth: 120 }), plantValidator }
  } catch (cause) {
    const isTooLarge = cause instanceof RangeError
    if (!isTooLarge && !(cause instanceof OperatorError || cause instanceof AppError)) throw cause
    const why = isTooLarge ? 'its schemas are nested too deeply, or have too many properties' : cause.message
    throw new SettingError(`${file}: ${escapeControls(why)}`, { cause })
  }
}

function parse(file: string): unknown {
  const text = readText(file)
  try {
    return /\.json$/i.test(file) ? decodeText(text.replace(/^\ufeff/, ''), depthMax) : parseYaml(text)
  } catch (cause) {
    const [line = ''] = messageOf(cause).split('\n')
    const why = line
      .replace(/^not valid JSON: |; please use YAML\S+|:$/g, '')
      .replace(/^Maximum call stack .*/, 'it is nested too deeply')
    throw new OperatorError(`is not valid YAML or JSON: ${why}`, { cause })
  }
}

/** Rejects anything but a file, because a device or a pipe may be endless. */
function readText(file: string): string {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) throw new Error('it is not a file')
    const { size } = stats
    if (size > bytesMax) throw new Error(`it has ${size} bytes, more than ${bytesMax}`)
    const bytes = readFileSync(file)
    if (!isUtf8(bytes)) throw new Error('it is not UTF-8')
    return bytes.toString('utf8')
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'it does not exist' : messageOf(cause)
    throw new OperatorError(`cannot be read: ${why}`, { cause })
  }
}

/**
 * Parses YAML 1.2 without the tags of other versions, whose values JSON does not have. Keys are texts, as they are
 * spelled. Limits nested keys, repeated keys and aliases, which could take the parser more than linear time.
 */
function parseYaml(text: string): unknown {
  if (/(?:\?\s+){64}/.test(text)) throw new Error('keys are nested too deeply')
  const form = { schema: 'core', resolveKnownTags: false, intAsBigInt: true, merge: true, uniqueKeys: false } as const
  const document = parseDocument(text, { ...form, logLevel: 'error' })
  for (const error of document.errors) throw error
  let aliases = 0
  visit(document, {
    Alias: () => {
      aliases += 1
      if (aliases > aliasesMax) throw new Error(`it has more than ${aliasesMax} aliases`)
    },
    Map: (_key, { items }) => {
      const keys = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) throw new Error('a key is a list, an object or an alias, not a text')
        const name = key.source ?? ''
        if (keys.has(name) && name !== '<<') throw new Error(`the key ${JSON.stringify(name)} appears twice`)
        keys.add(name)
        key.value = name
      }
    },
  })
  // Aliases share their value; `simplify` counts the value once for each.
  return document.toJS({ maxAliasCount: -1 })
}

/** Converts the bigints that numbers can hold to numbers, and limits the size of a document. */
function simplify(parsed: unknown): Schema {
  let values = 0
  const go = (value: unknown, depth: number): unknown => {
    values += 1
    if (depth > depthMax || values > valuesMax) throw new OperatorError('is nested too deeply, or too large')
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new OperatorError('contains a number that is too large, or NaN')
    }
    if (Array.isArray(value)) return value.map((each) => go(each, depth + 1))
    if (!isObject(value)) return value
    return mapValues(value, (each) => go(each, depth + 1))
  }
  const document = go(parsed, 0)
  if (isObject(document) && /^3(?:\.[01](?:\.|$)|$)/.test(String(document['openapi']))) return document
  throw new OperatorError('is not an OpenAPI document of version 3.0 or 3.1')
}

function mergeDocument(bundled: Schema, own: Schema): Schema {
  const { components } = bundled as { readonly components: Schema }
  const { schemas } = components as { readonly schemas: Schema }
  const plants = plantSchemas(own, findPlant(own), schemas)
  const info = isObject(own['info']) ? own['info'] : {}
  const wrong = ['title', 'summary', 'description', 'version'].find(
    (key) => key in info && typeof info[key] !== 'string',
  )
  if (wrong !== undefined) throw new OperatorError(`info: ${wrong} must be a text; put it in quotes`)
  return {
    ...(withoutExamples(bundled) as Schema),
    info: { ...(bundled['info'] as Schema), ...info },
    components: { ...(withoutExamples(components) as Schema), schemas: { ...schemas, ...plants } },
  }
}

function findPlant(own: Schema): Schema {
  const at = (value: unknown, key: string): unknown => (isObject(value) ? follow(own, value[key]) : undefined)
  const content = ['paths', '/plants', 'post', 'requestBody', 'content'].reduce<unknown>(at, own)
  const media = Object.entries(content ?? {}).find(([type]) => /^application\/json\s*(?:;|$)/i.test(type))?.[1]
  const { schema } = (follow(own, media) ?? {}) as Schema
  if (isObject(schema)) return schema
  throw new OperatorError(
    'has no POST /plants that accepts application/json; this server stores plants, and no other resources',
  )
}

/** Removes the examples of plants, which have the properties of the bundled document. */
function withoutExamples(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExamples)
  if (!isObject(value)) return value
  const isOfPlants = /"#\/components\/schemas\/(?:Plant|NewPlant|StoredPlant|Change)"/.test(
    JSON.stringify(value['schema'] ?? ''),
  )
  const { examples, ...others } = value
  return mapValues(isOfPlants ? others : value, withoutExamples)
}
