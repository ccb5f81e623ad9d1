// The properties of a plant, as the server's document declares them. Their names may be anything, such as
// `__proto__`: plants are read with `ownOf`, and made of entries.

import { type Column, columnsOf, type Property, toField, toJsonOf } from './columns.js'
import { find, make } from './elements.js'
import { parseExact, printExact, printLine } from './exact-json.js'
import { shown } from './texts.js'

/** The own properties of a plant. */
export interface Values {
  readonly name: string
  readonly tag?: string | undefined
  readonly [name: string]: unknown
}

export interface PlantProperty extends Property, Column {
  readonly title: string
  /** Names it in a form: its own name if a plant usually has it, and otherwise its number. */
  readonly key: string
}

const usual = ['id', 'name', 'tag']
export const isUsual = ({ name }: Property): boolean => usual.includes(name)

const declared = parseExact(find('#plant-properties').textContent) as readonly Property[]

/** In the order of the document, which is that of files. */
export const properties: readonly PlantProperty[] = columnsOf(declared).map((column, at) => {
  const { name, schema } = column
  const words = name.replace(/(?<=[\p{Ll}\d])\p{Lu}/gu, (letter) => ` ${letter.toLowerCase()}`)
  const title = String(schema['title'] ?? '') || words.charAt(0).toUpperCase() + words.slice(1) || '(empty)'
  return { ...column, title, key: usual.includes(name) ? name : `property-${at}` }
})

const placeOf = ({ name }: Property): number => [...usual, name].indexOf(name)

/** In the order of the page: the usual ones first. */
export const displayed = properties.toSorted((one, other) => placeOf(one) - placeOf(other))

export const withoutId = displayed.filter(({ name }) => name !== 'id')

export function ownOf(plant: object, name: string): unknown {
  return Object.hasOwn(plant, name) ? (plant as Values)[name] : undefined
}

/** @param entries those of undefined are left out. */
export function plantOf(entries: Iterable<readonly [string, unknown]>): Values {
  return Object.fromEntries([...entries].filter(([, value]) => value !== undefined)) as Values
}

/** The JSON of a plant's properties, as the server formats it. */
export function jsonOf(plant: object, wanted: readonly Property[] = properties): string {
  const members = wanted.flatMap(({ name }) => {
    const value = ownOf(plant, name)
    return value === undefined ? [] : [`${JSON.stringify(name)}:${printLine(value, '')}`]
  })
  return `{${members.join()}}`
}

export function isSame(one: object, other: object): boolean {
  return jsonOf(one) === jsonOf(other)
}

/** The text of a property in a form or a file; undefined if the plant does not have it. */
export function textOf(property: PlantProperty, plant: object, print = printExact): string | undefined {
  const value = ownOf(plant, property.name)
  return value === undefined ? undefined : toField(property, value, print)
}

/** The text that shows a property to a person: a text as it is, whatever other types the property has. */
export function shownText(property: PlantProperty, plant: object, print = printExact): string | undefined {
  const value = ownOf(plant, property.name)
  return typeof value === 'string' ? value : textOf(property, plant, print)
}

/** Shows a property as a person says it: Yes or No, a date, and a moment by the clock of the reader. */
export function seen({ schema, name }: PlantProperty, plant: object, text: string): HTMLElement {
  const styles = { date: { timeZone: 'UTC' }, 'date-time': { timeStyle: 'short' } } as const
  const style = styles[schema['format'] as keyof typeof styles]
  const moment = Date.parse(style === undefined ? '' : text)
  const local = { dateStyle: 'medium', ...style } as const
  const time = Number.isNaN(moment) ? undefined : new Date(moment).toLocaleString([], local)
  const words = yesOrNo.get(ownOf(plant, name)) ?? time
  return words === undefined ? shown(text) : make('span', { title: text }, words)
}

export const yesOrNo: ReadonlyMap<unknown, string> = new Map([
  [true, 'Yes'],
  [false, 'No'],
])

/** What a text means in a form or a file; undefined for no property. The server refuses a text in place of a number. */
export function meaningOf(column: Column, text: string): unknown {
  const json = toJsonOf(column, text)
  try {
    return json === undefined ? undefined : parseExact(json)
  } catch {
    return text
  }
}
