// Forms: reads the input, and shows the server's messages beside the fields they concern.

import { wordsOf } from './api.js'
import { PlantStoreError } from './client.js'
import { parseExact } from './exact-json.js'
import { type Field, find, isField } from './find.js'
import { isolated } from './plant-text.js'

/**
 * Turns a server message into a sentence: `id: must be less` becomes `Id must be less.` A message with its own subject
 * loses its field name.
 */
export function toSentence(message: string): string {
  const words = message.replace(/^[^\s:]+: (?=(?:a|the|there) )/, '').replace(/^([^\s:]+): /, '$1 ')
  return words.charAt(0).toUpperCase() + words.slice(1) + (words.endsWith('.') ? '' : '.')
}

/** What a person would say, in place of a server's message about a field. */
const plainWords: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [/^id: must be an integer\b.*/s, () => 'A whole number of up to 19 digits, such as 42.'],
  [
    /^.+: must have at most (\d+) characters, got (\d+)$/s,
    (_all, most = '', got = '') => `At most ${numeral(most)} characters; these are ${numeral(got)}.`,
  ],
  [/^id: (\S+) is already taken\b.*/s, (_all, id = '') => `There is a plant ${id} already. Choose another id.`],
]

const numeral = (digits: string): string => Number(digits).toLocaleString('en')

function plainly(message: string): string {
  for (const [pattern, say] of plainWords) {
    const found = pattern.exec(message)
    if (found !== null) return say(...found)
  }
  return toSentence(message)
}

/**
 * Shows a refusal beside the fields that it names, as in `name: must have ...; tag: ...`, with the number of the
 * server's error, and the rest below the form.
 */
export function showRefusal(form: HTMLFormElement, refusal: unknown, rest: HTMLElement): void {
  const number = refusal instanceof PlantStoreError ? refusal.error : undefined
  const message = refusal instanceof PlantStoreError && number !== undefined ? refusal.message : wordsOf(refusal)
  const end = number === undefined ? '' : ` (error ${number})`
  const others: string[] = []
  const told = new Map<Field, string[]>()
  let field: Field | undefined
  for (const part of message.split('; ')) {
    const named = fieldNamedIn(part, form)
    if (named !== undefined) {
      field = named
      told.set(field, [part])
    } else if (field === undefined) others.push(part)
    else told.get(field)?.push(part)
  }
  for (const [each, parts] of told) tell(each, plainly(parts.join('; ')) + end)
  say(rest, others.length === 0 ? '' : toSentence(others.join('; ') + end))
  fieldsOf(form, '[aria-invalid]')[0]?.focus()
}

/** The field of the property at the beginning of a message, as in `name: is missing` or `care.light: must be`. */
function fieldNamedIn(message: string, form: HTMLFormElement): Field | undefined {
  const named = (end: string): Field | undefined =>
    fieldsOf(form, '[data-property]').find((field) => message.startsWith(`${field.dataset['property']}${end}`))
  return named(': ') ?? named('.')
}

export function clearRefusal(form: HTMLFormElement, rest: HTMLElement): void {
  rest.textContent = ''
  for (const field of fieldsOf(form, '[aria-invalid]')) clear(field)
}

/** Whether all required fields are filled in, and what is typed can be read; marks those that are not. */
export function isFilledIn(form: HTMLFormElement): boolean {
  const isEmpty = ({ value }: Field): boolean => value.trim() === ''
  const missing = fieldsOf(form, '[data-missing]').filter(isEmpty)
  for (const field of missing) tell(field, field.dataset['missing'] ?? '')
  const unreadable = fieldsOf(form, '[data-json]').filter((field) => !isEmpty(field) && !isJson(field.value))
  for (const field of unreadable) tell(field, 'This is not JSON. A text needs double quotes.')
  const incomplete = fieldsOf(form, 'input').filter(({ validity }) => validity.badInput)
  for (const field of incomplete) tell(field, 'This is incomplete.')
  fieldsOf(form, '[aria-invalid]')[0]?.focus()
  return missing.length + unreadable.length + incomplete.length === 0
}

function isJson(text: string): boolean {
  try {
    parseExact(text)
    return true
  } catch {
    return false
  }
}

export function tell(field: Field, text: string): void {
  field.setAttribute('aria-invalid', 'true')
  say(errorOf(field), text)
}

/** Shows a sentence. Quoted server text, such as `got "x"`, does not affect the direction of the rest. */
export function say(element: HTMLElement, sentence: string): void {
  element.replaceChildren(...spoken(sentence))
}

/** The nodes of such a sentence. */
export function spoken(sentence: string): (Node | string)[] {
  const parts = sentence.split(/("(?:[^"\\]|\\.)*")/)
  return parts.map((part, at) => (at % 2 === 1 ? isolated(part) : part))
}

function fieldsOf(form: HTMLFormElement, selector: string): Field[] {
  return [...form.querySelectorAll(selector)].filter(isField)
}

function clear(field: Field): void {
  field.removeAttribute('aria-invalid')
  errorOf(field).textContent = ''
}

function errorOf(field: Field): HTMLElement {
  return find(`#${field.id}-error`)
}

/** Runs an action when a form is submitted. Editing a field clears its message, which may no longer apply. */
export function onSubmit(form: HTMLFormElement, run: () => Promise<void>): void {
  const button = find('[type="submit"]', HTMLButtonElement, form)
  form.addEventListener('input', ({ target }) => {
    if (isField(target) && target.matches('[aria-invalid]')) clear(target)
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void whileBusy(button, run)
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
