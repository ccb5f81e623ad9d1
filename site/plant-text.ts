// Texts of plants as they are shown: any Unicode, so they may be empty, and turn the direction of what stands around them.

/** What ends the isolation of a `<bdi>`: the mark that does so, and what begins a paragraph for a browser (Unicode TR 9). */
const isolationEnd = /[\r\x1c-\x1e\x85\u2029\u2069]/

/** The nodes that show a text where it stands alone, such as in a cell. An empty one is said to be. */
export function shown(text: string): Node | string {
  if (text !== '') return text
  const note = document.createElement('em')
  note.className = 'hint'
  note.textContent = '(empty)'
  return note
}

/** A text in a sentence, the rest of which keeps its direction; where a `<bdi>` does not do, it has a box of its own. */
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
