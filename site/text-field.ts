// Fields that preserve a plant's text exactly. Browsers remove line breaks from an input and normalise them to LF in a
// textarea; unedited text must return to the server unchanged.

import { type Field, fieldOf, find, make } from './elements.js'
import { escaped, isolated } from './plant-text.js'

/** The text that was put into a textarea, and its value right after. */
const given = new WeakMap<Field, { readonly text: string; readonly value: string }>()

/**
 * Puts a text into a form's field: a textarea if it is long or the text has line breaks, otherwise an input.
 *
 * @param isLong whether it is a textarea in any case.
 */
export function putText(form: HTMLFormElement, name: string, text: string, isLong = false): void {
  const field = fieldOf(form, name)
  if (isOneLine(text) && !isLong) {
    const input = field instanceof HTMLInputElement ? field : replace(field, 'input')
    input.type = input.dataset['type'] ?? input.type
    input.value = text
    if (input.value === text) return
    // Such as an input of dates, for a text that is none.
    input.type = 'text'
    input.value = text
    return
  }
  const area = field instanceof HTMLTextAreaElement ? field : replace(field, 'textarea')
  area.value = text
  given.set(area, { text, value: area.value })
  area.rows = Math.min(Math.max(area.value.split('\n').length, isLong ? 3 : 1), 6)
}

/** Whether an input can hold a text. */
export function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text)
}

/** Returns a field's text, exactly as it was put unless it was edited. All line breaks of an edited one are alike. */
export function textIn(form: HTMLFormElement, name: string): string {
  const field = fieldOf(form, name)
  const { text, value } = given.get(field) ?? { text: '', value: '' }
  if (!(field instanceof HTMLTextAreaElement)) return field.value
  return field.value === value ? text : field.value.replaceAll('\n', /\r\n?|\n/.exec(text)?.[0] ?? '\n')
}

/** Shows what a field cannot: the characters of its text that change the direction of the others. */
export function showMarks(form: HTMLFormElement, name: string): void {
  const text = textIn(form, name)
  const hint = find('.long', HTMLElement, fieldOf(form, name).parentElement ?? form)
  hint.replaceChildren(...(escaped(text) === text ? [] : [isolated(text)]))
}

function replace<Kind extends 'input' | 'textarea'>(field: Field, kind: Kind): HTMLElementTagNameMap[Kind] {
  const other = make(kind, Object.fromEntries([...field.attributes].map(({ name, value }) => [name, value])))
  field.replaceWith(other)
  return other
}
