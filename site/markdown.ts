// Elements, and the little of Markdown that the document has: paragraphs, tables and `code`. Text never becomes HTML.

/** What an element may have in it: nothing for undefined, false and an empty text. */
export type Child = Node | string | false | undefined | readonly Child[]

/** Those that are undefined or false are left out; one that is true has no value. */
type Attributes = Readonly<Record<string, string | boolean | undefined>>

/** An element with attributes and children, be they lists. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(attribute, value === true ? '' : value)
  }
  made.append(...nodesOf(children))
  return made
}

function nodesOf(child: Child): (Node | string)[] {
  if (child === undefined || child === false || child === '') return []
  return typeof child === 'string' || child instanceof Node ? [child] : child.flatMap(nodesOf)
}

/** The elements of a text in Markdown; none for undefined. */
export function fromMarkdown(text = ''): HTMLElement[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => (block.startsWith('|') ? table(block) : element('p', {}, inline(block))))
}

/** What stands in a line. */
export function inline(text: string): Child[] {
  return text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? element('code', {}, part.slice(1, -1)) : part))
}

/** What is wider than the page can be moved, by keyboard, too. */
export function scrolling(label: string, content: Child): HTMLElement {
  return element('div', { class: 'scrolling', role: 'group', 'aria-label': label, tabindex: '0' }, content)
}

function table(block: string): HTMLElement {
  const [head = [], , ...rows] = block.split('\n').map((line) =>
    line
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim()),
  )
  // The roles hold although a phone shows no table.
  const row = (cells: readonly string[], name: 'th' | 'td', attributes: Attributes): HTMLElement =>
    element(
      'tr',
      { role: 'row' },
      cells.map((cell) => element(name, attributes, inline(cell))),
    )
  return scrolling(
    `Table: ${head.join(', ')}`,
    element(
      'table',
      { role: 'table' },
      element('thead', { role: 'rowgroup' }, row(head, 'th', { scope: 'col', role: 'columnheader' })),
      element(
        'tbody',
        { role: 'rowgroup' },
        rows.map((cells) => row(cells, 'td', { role: 'cell' })),
      ),
    ),
  )
}
