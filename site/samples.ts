// Samples of the values that a schema describes.

type Schema = Readonly<Record<string, unknown>>

const texts = new Map<unknown, string>([
  ['date', '2026-01-31'],
  ['date-time', '2026-01-31T12:00:00Z'],
  ['time', '12:00:00Z'],
  ['email', 'someone@example.com'],
  ['uri', 'https://example.com/'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
])

/** @param read gives the schema to read in place of one, such as the one that it refers to. */
export function sampleOf(of: Schema, read = (schema: Schema): Schema => schema): unknown {
  const schema = read(of)
  const { example, examples, default: preset, enum: choices, const: only, type } = schema
  const given = [[example], examples, [preset], choices, [only]].flat().find((value) => value !== undefined)
  if (given !== undefined) return given
  switch ([type].flat()[0]) {
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return false
    case 'array':
      return Array.from({ length: Number(schema['minItems'] ?? 0) }, () => sampleOf(schemaOf(schema['items']), read))
    case 'object': {
      const properties = new Map(Object.entries(schemaOf(schema['properties'])))
      const names = [schema['required'] ?? []].flat().map(String)
      return Object.fromEntries(names.map((name) => [name, sampleOf(schemaOf(properties.get(name)), read)]))
    }
    case 'null':
      return null
    default: {
      const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
      return (texts.get(format) ?? 'sample').padEnd(Number(minLength), '-').slice(0, Number(maxLength))
    }
  }
}

/** 1, or the bound that is nearest to it. */
function numberOf({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): unknown {
  const least = exclusiveMinimum === undefined ? minimum : after(exclusiveMinimum, 1)
  const most = exclusiveMaximum === undefined ? maximum : after(exclusiveMaximum, -1)
  const middle = (Number(exclusiveMinimum ?? minimum) + Number(exclusiveMaximum ?? maximum)) / 2
  // Without both bounds, there is no middle.
  if (type === 'number' && !Number.isNaN(middle)) return middle
  return Number(least ?? 1) > 1 ? least : Number(most ?? 1) < 1 ? most : 1
}

function after(bound: unknown, step: 1 | -1): unknown {
  return typeof bound === 'bigint' ? bound + BigInt(step) : Number(bound) + step
}

function schemaOf(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {}
}
