// Elements, and the little of Markdown that the document has: paragraphs, tables and `code`. Text never becomes HTML.

/** An element with attributes (those that are undefined or false are left out) and children, be they lists. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(attribute, value === true ? '' : value)
  }
  made.append(
    ...children
      .flat(Number.POSITIVE_INFINITY)
      .filter((child) => child !== undefined && child !== false && child !== ''),
  )
  return made
}

/** The elements of a text in Markdown; none for undefined. */
export function fromMarkdown(text = '') {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => (block.startsWith('|') ? table(block) : element('p', {}, inline(block))))
}

/** What stands in a line. */
export function inline(text) {
  return text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? element('code', {}, part.slice(1, -1)) : part))
}

/** What is wider than the page can be moved, by keyboard, too. */
export function scrolling(label, content) {
  return element('div', { class: 'scrolling', role: 'group', 'aria-label': label, tabindex: '0' }, content)
}

function table(block) {
  const [head, , ...rows] = block.split('\n').map((line) =>
    line
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim()),
  )
  // The roles hold although a phone shows no table.
  const row = (cells, name, attributes) =>
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
