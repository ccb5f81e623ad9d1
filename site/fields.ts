// The fields of a plant in a form, one for each property of the document.

import { type Field, fieldOf, fill, find, make } from './elements.js'
import { printLine } from './exact-json.js'
import { isUsual, meaningOf, ownOf, type PlantProperty, plantOf, textOf, type Values } from './properties.js'
import { putText, textIn } from './text-field.js'

/** Texts that may have more get several lines. Names and tags have one, unless they have line breaks. */
const lineCharactersMax = 200

/** The keyboards of phones. The inputs of these types would change what is typed, such as the domain of an address. */
const inputModes = new Map<unknown, string>([
  ['integer', 'numeric'],
  ['number', 'decimal'],
  ['email', 'email'],
  ['uri', 'url'],
])

/** Puts the fields of properties in place of the element `.fields` of a form. */
export function makeFields(form: HTMLFormElement, properties: readonly PlantProperty[], prefix = ''): void {
  find('.fields', HTMLElement, form).replaceWith(...properties.map((property) => fieldFor(property, prefix)))
}

/** Fills a form with the properties of a plant. */
export function putPlant(form: HTMLFormElement, properties: readonly PlantProperty[], plant: Values): void {
  for (const property of properties) {
    const field = fieldOf(form, property.key)
    const value = ownOf(plant, property.name)
    if (field instanceof HTMLSelectElement) {
      field.replaceChildren(...optionsOf(property, value))
      field.value = printed(value)
      continue
    }
    if (property.kind === 'text') field.placeholder = property.isRequired || value === '' ? '(empty)' : ''
    putText(form, property.key, textOf(property, plant) ?? '', isLong(property))
  }
}

/** The properties that a form says. What it does not change is as the plant has it, such as an empty optional text. */
export function plantIn(form: HTMLFormElement, properties: readonly PlantProperty[], plant: object = {}): Values {
  return plantOf(properties.map((property) => [property.name, valueIn(form, property, plant)]))
}

function valueIn(form: HTMLFormElement, property: PlantProperty, plant: object): unknown {
  const typed = textIn(form, property.key)
  const value = ownOf(plant, property.name)
  const isChoice = choicesOf(property) !== undefined
  if (value !== undefined && typed === (isChoice ? printed(value) : textOf(property, plant))) return value
  return meaningOf(isChoice ? { ...property, kind: 'json', isRequired: false } : property, typed)
}

function fieldFor(property: PlantProperty, prefix: string): HTMLElement {
  const { key, name, title, isRequired, kind, schema } = property
  const id = prefix + key
  const control = controlFor(property)
  const description = isUsual(property) ? '' : String(schema['description'] ?? '')
  const help = `${description}${'json' in control.dataset ? ' As JSON.' : ''}`.trim()
  const described = `${id}-error${help === '' ? '' : ` ${id}-help`}`
  fill(control, { id, name: key, autocomplete: 'off', 'data-property': name, 'aria-describedby': described })
  if (isRequired && (kind !== 'text' || control instanceof HTMLSelectElement)) {
    fill(control, { required: '', 'data-missing': name === 'id' ? 'Enter an id.' : 'Enter a value.' })
  }
  if (name === 'tag' && control instanceof HTMLInputElement) fill(control, { list: 'tags' })
  return make(
    'div.field',
    make('label', { for: id }, isRequired ? title : `${title} (optional)`),
    control,
    make('p.error', { id: `${id}-error` }),
    help !== '' && make('p.hint', { id: `${id}-help` }, help),
    // Shows what the field cannot.
    make('p.hint.long'),
  )
}

function controlFor(property: PlantProperty): Field {
  const { kind, schema } = property
  if (choicesOf(property) !== undefined) return make('select', optionsOf(property))
  if (isLong(property)) return make('textarea', { rows: '3' }, kind === 'json' && { 'data-json': '' })
  const { type, format } = schema
  const isDate = kind === 'text' && format === 'date'
  return make(
    'input',
    { inputmode: inputModes.get(kind === 'number' ? type : format) ?? 'text' },
    isDate && { type: 'date', 'data-type': 'date' },
    // The browser's own input has no time zone.
    format === 'date-time' && { placeholder: '2026-01-31T12:00:00Z' },
  )
}

function isLong(property: PlantProperty): boolean {
  const isText = property.kind === 'text' && !isUsual(property)
  return property.kind === 'json' || (isText && Number(property.schema['maxLength'] ?? 0) > lineCharactersMax)
}

/** The values of a property that has few; undefined for any other. */
function choicesOf({ kind, schema }: PlantProperty): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'] : kind === 'boolean' ? [true, false] : undefined
}

/** @param value another choice, if it is none of them. */
function optionsOf(property: PlantProperty, value?: unknown): HTMLOptionElement[] {
  const choices = new Map([...(choicesOf(property) ?? []), value].map((choice) => [printed(choice), choice]))
  choices.delete('')
  const options = [...choices].map(([text, choice]) => new Option(typeof choice === 'string' ? choice : text, text))
  return [new Option('', ''), ...options]
}

function printed(value: unknown): string {
  return value === undefined ? '' : printLine(value, '')
}
