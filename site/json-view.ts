// JSON for people: exact numbers, indented, coloured.

import { make } from './elements.js'
import { parseExact, printExact } from './exact-json.js'
import { escaped, marked } from './plant-text.js'

const part = /("(?:[^"\\]|\\.)*")(:?)|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g

/** The nodes that show a text of JSON; a text that is none is shown as it is. */
export function jsonNodes(text: string): (Node | string)[] {
  let printed: string
  try {
    printed = printExact(parseExact(text))
  } catch {
    return [escaped(text)]
  }
  const nodes: (Node | string)[] = []
  let at = 0
  for (const found of printed.matchAll(part)) {
    nodes.push(
      printed.slice(at, found.index),
      make(`bdi.json-${kindOf(found)}`, marked(found[1] ?? found[0])),
      found[2] ?? '',
    )
    at = found.index + found[0].length
  }
  return [...nodes, printed.slice(at)]
}

function kindOf([all, text, colon]: readonly (string | undefined)[]): string {
  if (text === undefined) return /^[-\d]/.test(all ?? '') ? 'number' : 'literal'
  return colon === ':' ? 'key' : 'text'
}
