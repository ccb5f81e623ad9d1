// Fields that preserve a plant's text exactly. Browsers remove line breaks from an input and normalise them to LF in a
// textarea; unedited text must return to the server unchanged.

import { type Field, fieldOf, find } from './find.js'
import { escaped, isolated } from './plant-text.js'

/** The tracked state of a textarea. */
interface Known {
  /** The text that was set. */
  readonly text: string
  /** The textarea's value right after the text was set. */
  readonly value: string
  /** The current text, one part for each character of the value. */
  readonly parts: readonly string[]
}

const known = new WeakMap<HTMLTextAreaElement, Known>()

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
  const parts = text.match(/\r\n|[\s\S]/g) ?? []
  known.set(area, { text, value: shownOf(parts), parts })
  area.rows = Math.min(Math.max(area.value.split('\n').length, isLong ? 3 : 1), 6)
  area.addEventListener('input', onInput)
}

/** Whether an input can hold a text. */
export function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text)
}

/** Returns a field's text. Unedited line breaks keep their original form; new ones take the form of the first. */
export function textIn(form: HTMLFormElement, name: string): string {
  const field = fieldOf(form, name)
  if (!(field instanceof HTMLTextAreaElement)) return field.value
  const { text, value, parts } = follow(field)
  if (field.value === value) return text
  // Keep two line breaks that an edit made adjacent from merging into one CR LF.
  return parts.map((part, at) => (part === '\r' && parts[at + 1] === '\n' ? '\n' : part)).join('')
}

/** Shows what a field cannot: the characters of its text that change the direction of the others. */
export function showMarks(form: HTMLFormElement, name: string): void {
  const text = textIn(form, name)
  const hint = find('.long', HTMLElement, fieldOf(form, name).parentElement ?? form)
  hint.replaceChildren(...(escaped(text) === text ? [] : [isolated(text)]))
}

function onInput({ currentTarget }: Event): void {
  if (currentTarget instanceof HTMLTextAreaElement) follow(currentTarget)
}

/** Applies an edit to a textarea's parts: everything between the unchanged prefix and suffix was replaced. */
function follow(field: HTMLTextAreaElement): Known {
  const before = known.get(field) ?? { text: '', value: '', parts: [] }
  const { text, parts } = before
  const [old, now] = [shownOf(parts), field.value]
  const shorter = Math.min(old.length, now.length)
  let start = 0
  while (start < shorter && old[start] === now[start]) start += 1
  let kept = 0
  while (kept < shorter - start && old.at(-1 - kept) === now.at(-1 - kept)) kept += 1
  const lineBreak = /\r\n?|\n/.exec(text)?.[0] ?? '\n'
  const typed = now.slice(start, now.length - kept).split('')
  const added = typed.map((part) => (part === '\n' ? lineBreak : part))
  const after = { ...before, parts: [...parts.slice(0, start), ...added, ...parts.slice(old.length - kept)] }
  known.set(field, after)
  return after
}

function shownOf(parts: readonly string[]): string {
  return parts.map((part) => (part.startsWith('\r') ? '\n' : part)).join('')
}

function replace<Kind extends 'input' | 'textarea'>(field: Field, kind: Kind): HTMLElementTagNameMap[Kind] {
  const other = document.createElement(kind)
  for (const { name, value } of field.attributes) other.setAttribute(name, value)
  field.replaceWith(other)
  return other
}
