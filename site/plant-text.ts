// Displays plant texts. They contain any Unicode: they may be empty, or change the direction of surrounding text.

/**
 * Characters that end the isolation of a `<bdi>`: the pop mark, and what browsers treat as a paragraph break (Unicode
 * TR 9).
 */
const isolationEnd = /[\r\x1c-\x1e\x85\u2029\u2069]/

/** The nodes that show a text on its own, such as in a cell. Marks an empty text as such. */
export function shown(text: string): Node | string {
  if (text !== '') return text
  const note = document.createElement('em')
  note.className = 'hint'
  note.textContent = '(empty)'
  return note
}

/**
 * Shows a text within a sentence without affecting the sentence's direction. Uses a separate box where a `<bdi>` is not
 * enough.
 */
export function isolated(text: string): HTMLElement {
  const part = document.createElement('bdi')
  part.classList.toggle('box', isolationEnd.test(text))
  part.textContent = text
  return part
}

/** The parts of a sentence that quote a text. */
export function quotationOf(text: string): (Node | string)[] {
  return ['“', isolated(text), '”']
}
