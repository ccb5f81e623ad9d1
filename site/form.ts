// Forms: reads the input, and shows the server's messages beside the fields they concern.

import { wordsOf } from './api.js'
import { PlantStoreError } from './client.js'
import { type Field, find, isField } from './elements.js'
import { parseExact } from './exact-json.js'
import { say, toSentence } from './messages.js'

/** What a person would say, in place of a server's message about a field. */
function plainly(message: string): string {
  const words = message
    .replace(/^id: must be an integer\b.*/s, 'A whole number of up to 19 digits, such as 42.')
    .replace(/^id: (\S+) is already taken\b.*/s, 'There is a plant $1 already. Choose another id.')
    .replace(/^.+: must have at most \d+ characters, got \d+$/s, (text) => {
      const [most, got] = (text.match(/\d+/g) ?? []).slice(-2).map((digits) => Number(digits).toLocaleString('en'))
      return `At most ${most} characters; these are ${got}.`
    })
  return toSentence(words)
}

/**
 * Shows a refusal beside the fields that it names, as in `name: must have ...; tag: ...`, with the number of the
 * server's error, and the rest below the form.
 */
export function showRefusal(form: HTMLFormElement, refusal: unknown, rest: HTMLElement): void {
  const error = refusal instanceof PlantStoreError ? refusal.error : undefined
  const message = refusal instanceof PlantStoreError && error !== undefined ? refusal.message : wordsOf(refusal)
  const end = error === undefined ? '' : ` (error ${error})`
  const others: string[] = []
  const told = new Map<Field, string>()
  let field: Field | undefined
  for (const part of message.split('; ')) {
    field = fieldNamedIn(part, form) ?? field
    if (field === undefined) others.push(part)
    else told.set(field, told.has(field) ? `${told.get(field)}; ${part}` : part)
  }
  for (const [each, words] of told) tell(each, plainly(words) + end)
  say(rest, others.length === 0 ? '' : toSentence(others.join('; ') + end))
  focusWrong(form)
}

/** Moves the focus to the first field with a message. */
export function focusWrong(form: HTMLFormElement): void {
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
  for (const field of fieldsOf(form, '[name]')) {
    const isEmpty = field.value.trim() === ''
    const { missing, json } = field.dataset
    if (isEmpty && missing !== undefined) tell(field, missing)
    if (!isEmpty && json !== undefined && !isJson(field.value))
      tell(field, 'This is not JSON. A text needs double quotes.')
    if (field.validity.badInput) tell(field, 'This is incomplete.')
  }
  focusWrong(form)
  return fieldsOf(form, '[aria-invalid]').length === 0
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
