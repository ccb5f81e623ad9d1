// Fields that hold a plant's text exactly. A browser takes line breaks out of an input, and makes each a line feed in a
// textarea: what was not edited has to go back to the server as it came.

import { type Field, fieldOf } from './find.js'

/** What is known of a textarea. */
interface Known {
  /** The text that was put into it. */
  readonly text: string
  /** Its value when that was put. */
  readonly value: string
  /** Its text now, a part for each character of its value. */
  readonly parts: readonly string[]
}

const known = new WeakMap<HTMLTextAreaElement, Known>()

/** Puts a text into a field of a form, which becomes a textarea if the text has line breaks, and else an input. */
export function putText(form: HTMLFormElement, name: string, text: string): void {
  const field = fieldOf(form, name)
  if (isOneLine(text)) {
    const input = field instanceof HTMLInputElement ? field : replace(field, 'input')
    input.value = text
    return
  }
  const area = field instanceof HTMLTextAreaElement ? field : replace(field, 'textarea')
  area.value = text
  const parts = text.match(/\r\n|[\s\S]/g) ?? []
  known.set(area, { text, value: shownOf(parts), parts })
  area.rows = Math.min(area.value.split('\n').length, 6)
  area.addEventListener('input', onInput)
}

/** Whether an input can hold a text. */
export function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text)
}

/** The text of a field, with the line breaks that were not edited as they were put; new ones are like the first of them. */
export function textIn(form: HTMLFormElement, name: string): string {
  const field = fieldOf(form, name)
  if (field instanceof HTMLInputElement) return field.value
  const { text, value, parts } = follow(field)
  if (field.value === value) return text
  // Two line breaks that an edit has put side by side stay two.
  return parts.map((part, at) => (part === '\r' && parts[at + 1] === '\n' ? '\n' : part)).join('')
}

function onInput({ currentTarget }: Event): void {
  if (currentTarget instanceof HTMLTextAreaElement) follow(currentTarget)
}

/** Edits the parts of a textarea as its value was: all that has changed is between a beginning and an end that have not. */
function follow(field: HTMLTextAreaElement): Known {
  const before = known.get(field)
  if (before === undefined) throw new TypeError(`no text was put into the textarea ${field.name}`)
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
