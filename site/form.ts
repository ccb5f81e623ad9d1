// Forms: their fields, one for each property of the document, what is typed, and the messages of the server beside the
// fields that they concern.

import { isRefusal, statusOf, wordsOf } from './api.js'
import { type Field, fieldOf, fill, find, isField, isHere, make } from './elements.js'
import { printLine } from './exact-json.js'
import { explain, say, toSentence } from './messages.js'
import { isUsual, meaningOf, ownOf, type PlantProperty, plantOf, textOf, type Values, yesOrNo } from './properties.js'

/** Texts that may have more get several lines. Names and tags have one, unless they have line breaks. */
const lineCharactersMax = 200

/** Makes the field of a property anew, with what a plant has of it. Keeps the focus. */
export function makeFieldAnew(form: HTMLFormElement, property: PlantProperty, prefix: string, plant: object): void {
  const field = fieldOf(form, property.key)
  const hadFocus = field.matches(':focus')
  field.closest('.field')?.replaceWith(fieldFor(property, prefix, plant))
  if (hadFocus) fieldOf(form, property.key).focus()
}

/** The properties that a form says. What it does not change is as the plant has it, such as an empty optional text. */
export function plantIn(form: HTMLFormElement, properties: readonly PlantProperty[], plant: object = {}): Values {
  return plantOf(properties.map((property) => [property.name, valueIn(form, property, plant)]))
}

/** Returns a field's text, exactly as it was put unless it was edited. All line breaks of an edited one are alike. */
function textIn(field: Field): string {
  if (!(field instanceof HTMLTextAreaElement)) return field.value
  const { value, defaultValue: text } = field
  // Browsers normalise the line breaks of a value.
  if (value === text.replaceAll(/\r\n?/g, '\n')) return text
  return value.replaceAll('\n', /\r\n?|\n/.exec(text)?.[0] ?? '\n')
}

function valueIn(form: HTMLFormElement, property: PlantProperty, plant: object): unknown {
  const typed = textIn(fieldOf(form, property.key))
  const value = ownOf(plant, property.name)
  const isChoice = choicesOf(property) !== undefined
  if (value !== undefined && typed === (isChoice ? printed(value) : textOf(property, plant))) return value
  return meaningOf(isChoice ? { ...property, kind: 'json', isRequired: false } : property, typed)
}

export function fieldFor(property: PlantProperty, prefix = '', plant?: object): HTMLElement {
  const { key, name, title, isRequired, kind, schema } = property
  const id = prefix + key
  const control = controlFor(property, plant)
  const description = isUsual(property) ? '' : String(schema['description'] ?? '')
  const isJson = kind === 'json' && control instanceof HTMLTextAreaElement
  const isMoment = kind === 'text' && schema['format'] === 'date-time'
  const form = isJson ? ' As JSON.' : isMoment ? ' With its time zone, such as 2026-01-31T12:00:00Z.' : ''
  const help = (description + form).trim()
  const described = `${id}-error${help === '' ? '' : ` ${id}-help`}`
  fill(control, { id, name: key, autocomplete: 'off', 'aria-describedby': described, 'data-property': name })
  const isChoice = control instanceof HTMLSelectElement
  if (isRequired && (kind !== 'text' || isChoice)) {
    const article = /^[aeio]/i.test(title) ? 'an' : 'a'
    const words = isChoice ? `Choose ${article} ${title.toLowerCase()}.` : 'Enter a value.'
    fill(control, { required: '', 'data-missing': name === 'id' ? 'Enter an id.' : words })
  }
  if (name === 'tag' && control instanceof HTMLInputElement) fill(control, { list: 'tags' })
  return make(
    'div.field',
    make('label', { for: id }, isRequired ? title : `${title} (optional)`),
    control,
    make('p.error', { id: `${id}-error` }),
    help !== '' && make('p.hint', { id: `${id}-help` }, help),
  )
}

/** An input, or a textarea if it is long or the text has line breaks, or a choice. */
function controlFor(property: PlantProperty, plant?: object): Field {
  const { kind, isRequired, schema } = property
  const value = plant && ownOf(plant, property.name)
  const text = (plant && textOf(property, plant)) ?? ''
  if (choicesOf(property) !== undefined) {
    const select = make('select', optionsOf(property, value))
    select.value = printed(value)
    return select
  }
  const hint = plant && kind === 'text' && (isRequired || value === '') ? { placeholder: '(empty)' } : undefined
  if (isLong(property) || /[\r\n]/.test(text)) {
    const area = make('textarea', hint)
    // The value puts the caret at its end.
    Object.assign(area, { value: text, defaultValue: text })
    area.rows = Math.min(Math.max(area.value.split('\n').length, isLong(property) ? 3 : 1), 6)
    return area
  }
  const isDate = kind === 'text' && schema['format'] === 'date'
  const input = make('input', { inputmode: kind === 'number' ? 'decimal' : 'text' }, isDate && { type: 'date' }, hint)
  input.value = text
  // Such as an input of dates, for a text that is none.
  if (input.value !== text) Object.assign(input, { type: 'text', value: text })
  return input
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
  const all = [undefined, ...(choicesOf(property) ?? []), value]
  const choices = new Map(all.map((choice) => [printed(choice), choice]))
  const wordOf = (choice: unknown): string | undefined => (typeof choice === 'string' ? choice : yesOrNo.get(choice))
  return [...choices].map(([text, choice]) => new Option(wordOf(choice) ?? text, text))
}

function printed(value: unknown): string {
  return value === undefined ? '' : printLine(value, '')
}

/**
 * Shows a refusal beside the fields that it names, as in `name: must have ...; tag: ...`, with the number of the
 * server's error, and the rest below the form. Throws it if it concerns the token.
 */
export function showRefusal(form: HTMLFormElement, refusal: unknown, rest: HTMLElement): void {
  if (statusOf(refusal) === 401) throw refusal
  const error = isRefusal(refusal) ? refusal.error : undefined
  const message = isRefusal(refusal) && error !== undefined ? refusal.message : wordsOf(refusal)
  const end = error === undefined ? '' : ` (error ${error})`
  const others: string[] = []
  const told = new Map<Field, string>()
  let field: Field | undefined
  for (const part of message.split('; ')) {
    field = fieldNamedIn(part, form) ?? field
    if (field === undefined) others.push(part)
    else told.set(field, told.has(field) ? `${told.get(field)}; ${part}` : part)
  }
  for (const [each, words] of told) tell(each, toSentence(words) + end)
  say(rest, others.length === 0 ? '' : toSentence(others.join('; ') + end))
  focusWrong(form)
}

/** Moves the focus to the first field with a message. */
export function focusWrong(form: HTMLFormElement): void {
  if (isHere(form)) fieldsOf(form, '[aria-invalid]')[0]?.focus()
}

/** The field of the property at the beginning of a message, as in `name: is missing` or `care.light: must be`. */
function fieldNamedIn(message: string, form: HTMLFormElement): Field | undefined {
  const named = (end: string): Field | undefined =>
    fieldsOf(form, '[data-property]').find((field) => message.startsWith(`${field.dataset['property']}${end}`))
  return named(': ') ?? named('.')
}

/** Takes back what was said, but of required fields that are not filled in. Returns whether all are. */
export function isFilledIn(form: HTMLFormElement, rest: HTMLElement): boolean {
  rest.textContent = ''
  for (const field of fieldsOf(form, '[name]')) {
    const missing = field.value.trim() === '' ? field.dataset['missing'] : undefined
    tell(field, field.validity.badInput ? 'This is incomplete.' : (missing ?? ''))
  }
  focusWrong(form)
  return fieldsOf(form, '[aria-invalid]').length === 0
}

/** Shows what is wrong with a field; an empty text takes it back. */
export function tell(field: Field, text: string): void {
  field.ariaInvalid = text === '' ? null : 'true'
  say(find(`#${field.id}-error`), text)
}

function fieldsOf(form: HTMLFormElement, selector: string): Field[] {
  return [...form.querySelectorAll(selector)].filter(isField)
}

/** Runs an action when a form is submitted. Editing a field clears its message, which may no longer apply. */
export function onSubmit(form: HTMLFormElement, run: () => Promise<unknown>): void {
  const button = find('[type="submit"]', HTMLButtonElement, form)
  form.addEventListener('input', ({ target }) => {
    if (isField(target) && target.matches('[aria-invalid]')) tell(target, '')
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void whileBusy(button, run).catch(explain)
  })
}

/** Runs a button's action. The button is disabled and looks busy until it finishes, so actions do not overlap. */
export async function whileBusy<Result>(
  button: HTMLButtonElement,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  if (button.disabled) return undefined
  const hadFocus = document.activeElement === button
  button.disabled = true
  button.ariaBusy = 'true'
  try {
    return await run()
  } finally {
    button.disabled = false
    button.ariaBusy = null
    // Browsers remove the focus from a disabled button.
    if (hadFocus && document.activeElement === document.body) button.focus()
  }
}
