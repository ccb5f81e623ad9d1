// Fields that hold a plant's text exactly. A browser takes line breaks out of an input, and makes each a line feed in a
// textarea: what was not edited has to go back to the server as it came.

/** What is known of each textarea: the text that was put into it, and its text now, a part for each character of its value. */
const known = new WeakMap()

/** Puts a text into a field of a form, which becomes a textarea if the text has line breaks, and else an input. */
export function putText(form, name, text) {
  const field = asKind(form.elements.namedItem(name), isOneLine(text) ? 'input' : 'textarea')
  field.value = text
  if (field.localName === 'input') return
  const parts = text.match(/\r\n|[\s\S]/g)
  known.set(field, { text, value: shownOf(parts), parts })
  field.rows = Math.min(field.value.split('\n').length, 6)
  field.addEventListener('input', follow)
}

/** Whether an input can hold a text. */
export function isOneLine(text) {
  return !/[\r\n]/.test(text)
}

/** The text of a field, with the line breaks that were not edited as they were put; new ones are like the first of them. */
export function textIn(form, name) {
  const field = form.elements.namedItem(name)
  if (field.localName === 'input') return field.value
  follow({ currentTarget: field })
  const { text, value, parts } = known.get(field)
  if (field.value === value) return text
  // Two line breaks that an edit has put side by side stay two.
  return parts.map((part, at) => (part === '\r' && parts[at + 1] === '\n' ? '\n' : part)).join('')
}

/** Edits the parts of a textarea as its value was: all that has changed is between a beginning and an end that have not. */
function follow({ currentTarget: field }) {
  const { text, parts, ...rest } = known.get(field)
  const [old, now] = [shownOf(parts), field.value]
  const shorter = Math.min(old.length, now.length)
  let start = 0
  while (start < shorter && old[start] === now[start]) start += 1
  let kept = 0
  while (kept < shorter - start && old.at(-1 - kept) === now.at(-1 - kept)) kept += 1
  const [lineBreak] = /\r\n?|\n/.exec(text)
  const typed = now.slice(start, now.length - kept).split('')
  const added = typed.map((part) => (part === '\n' ? lineBreak : part))
  known.set(field, { ...rest, text, parts: [...parts.slice(0, start), ...added, ...parts.slice(old.length - kept)] })
}

function shownOf(parts) {
  return parts.map((part) => (part.startsWith('\r') ? '\n' : part)).join('')
}

function asKind(field, kind) {
  if (field.localName === kind) return field
  const other = document.createElement(kind)
  for (const { name, value } of field.attributes) other.setAttribute(name, value)
  field.replaceWith(other)
  return other
}
