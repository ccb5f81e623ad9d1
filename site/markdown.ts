// Builds elements, and renders the Markdown subset of the document: paragraphs, tables and `code`. Text never becomes
// HTML.

/** The content of an element. Undefined, false and empty text produce nothing. */
export type Child = Node | string | false | undefined | readonly Child[]

/** Undefined and false omit the attribute; true sets it without a value. */
type Attributes = Readonly<Record<string, string | boolean | undefined>>

/** Creates an element with attributes and children, which may be nested lists. */
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

/** Renders Markdown as elements; none for undefined. */
export function fromMarkdown(text = ''): HTMLElement[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => (block.startsWith('|') ? table(block) : element('p', {}, inline(block))))
}

/** Renders the inline parts of a line. */
export function inline(text: string): Child[] {
  return text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? element('code', {}, part.slice(1, -1)) : part))
}

/** Wraps wide content in an element that also scrolls by keyboard. */
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
  // The roles keep table semantics on phones, where the table is not displayed as one.
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
