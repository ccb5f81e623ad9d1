// Shows Markdown, as far as descriptions in documents use it. HTML in it is shown as text.

import { type Child, make, makeTable, scrollable } from './elements.js'
import { makeCode } from './texts.js'

/** None for undefined. */
export function fromMarkdown(text = ''): Child[] {
  return text.split(/^```.*\n([\s\S]*?)^```.*$/m).flatMap((part, at) => {
    if (at % 2 === 1) return [makeCode('Example', { Example: part.trimEnd() })]
    // Blocks end at empty lines, and around headings.
    const blocks = part.split(/\n\s*\n|\n(?=#)|(?<=^#.*)\n/m)
    return blocks.filter((block) => block.trim() !== '').map(toElements)
  })
}

function toElements(block: string): Child {
  if (block.startsWith('#')) return make('p', make('strong', inline(block.replace(/^#+ */, ''))))
  if (block.startsWith('|')) return table(block)
  if (block.startsWith('>')) return make('blockquote', fromMarkdown(block.replaceAll(/^> ?/gm, '')))
  const [before = '', ...items] = block.split(/^ *(?:[-*+]|\d{1,2}[.)]) +/m)
  const list = items.map((item) => make('li', inline(item)))
  const kind = /^ *\d/m.test(block.slice(before.length)) ? 'ol' : 'ul'
  return [before.trim() !== '' && make('p', inline(before)), list.length > 0 && make(kind, list)]
}

/** Shows code, stress and links. */
export function inline(text: string): Child[] {
  return text.split(/(`[^`]+`|\*\*.+?\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)\s]+\))/).map((part, at) => {
    if (at % 2 === 0) return part
    if (part.startsWith('`')) return make('code', part.slice(1, -1))
    if (part.startsWith('**')) return make('strong', inline(part.slice(2, -2)))
    if (part.startsWith('*')) return make('em', inline(part.slice(1, -1)))
    const [title = '', href = ''] = part.slice(1, -1).split('](')
    return /^(?:https?:|[#./])/.test(href) ? make('a', { href }, title) : title
  })
}

function table(block: string): HTMLElement {
  const lines = block.split('\n').map((line) => line.replace(/^\||\|$/g, '').split('|'))
  const [head = [], , ...rows] = lines
  const cells = rows.map((row) => row.map((cell) => inline(cell.trim())))
  return make('div.scrolling', scrollable(`Table:${head.join()}`), makeTable(head.join(), head, cells))
}
