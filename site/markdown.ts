// Renders the Markdown subset of the document: paragraphs, tables and `code`. Text never becomes HTML.

import { type Child, giveRoles, make, makeTable, scrollable } from './elements.js'

/** Renders Markdown as elements; none for undefined. */
export function fromMarkdown(text = ''): HTMLElement[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => (block.startsWith('|') ? table(block) : make('p', inline(block))))
}

/** Renders the inline parts of a line. */
export function inline(text: string): Child[] {
  return text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? make('code', part.slice(1, -1)) : part))
}

/** Wraps wide content in an element that also scrolls by keyboard. */
export function scrolling(label: string, content: Child): HTMLElement {
  return make('div.scrolling', scrollable(label), content)
}

function table(block: string): HTMLElement {
  const lines = block.split('\n').map((line) => line.replace(/^\||\|$/g, '').split('|'))
  const [head = [], , ...rows] = lines.map((cells) => cells.map((cell) => inline(cell.trim())))
  const made = makeTable(head, rows)
  giveRoles(made)
  const titles = [...made.querySelectorAll('th')].map(({ textContent }) => textContent)
  return scrolling(`Table: ${titles.join(', ')}`, made)
}
