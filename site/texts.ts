// Displays plant texts and JSON. Texts contain any Unicode: they may be empty, invisible, or change the direction of what
// surrounds them. What is shown has the characters of the text and no others, so a selection copies it exactly.

import { copy, make, makeButton, makeTabs, scrollable } from './elements.js'

/** Characters that change the direction of text, or end its isolation as a paragraph break does (Unicode TR 9). */
const directing = /[\r\x1c-\x1e\x85\u061c\u200e\u200f\u2029-\u202e\u2066-\u2069]/g

/**
 * Characters that cannot be seen: controls, formats, blanks at either end. Joiners between visible characters belong to
 * emoji and to some scripts; so do variation selectors and tags.
 */
const visible = '[\\p{L}\\p{M}\\p{Extended_Pictographic}\\p{Emoji_Modifier}]'
const joiner = '[\\u200c\\u200d]'
const control =
  '(?![\\u200c\\u200d\\u{e0020}-\\u{e007f}])[\\p{Cc}\\p{Cf}\\u2028\\u2029\\u115f\\u1160\\u3164\\uffa0\\u2800]'
const kinds = [`(?<!${visible})${joiner}`, `${joiner}(?!${visible})`, control, '^\\p{Zs}+', '\\p{Zs}+$']
const unseen = new RegExp(`(${kinds.join('|')})`, 'u')

const names: Readonly<Record<string, string>> = { '\n': '\u21b5', '\r': '\u240d', '\t': '\u21e5', ' ': '\u2423' }

/** The nodes that show a text: characters that cannot be seen have a mark. */
function marked(text: string): (Node | string)[] {
  return text.split(unseen).flatMap<Node | string>((part, at) => (at % 2 === 1 ? [...part].map(mark) : part))
}

function mark(character: string): HTMLElement {
  const title = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  // A box keeps its effect in.
  const kind = character.search(directing) < 0 ? 'span.mark' : 'span.mark.box'
  return make(kind, { title, 'data-name': names[character] ?? title }, character)
}

/** Shows a text on its own, such as in a cell. Says so if it is empty or missing. */
export function shown(text: string | undefined): HTMLElement {
  if (text !== undefined && text !== '') return isolated(text)
  return make('em.hint', text === undefined ? '(none)' : '(empty)')
}

/** Escapes characters that change the direction of JSON, or of code with JSON in it. */
export function escaped(code: string): string {
  return code.replaceAll(directing, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Shows a text within a sentence without affecting the sentence's direction. */
export function isolated(text: string): HTMLElement {
  return make('bdi', ...marked(text))
}

/** What shows a text, in a box of some lines that can be scrolled, by the keyboard too, if there are more. */
export function boxed(label: string, text: string | undefined, ...nodes: readonly (Node | string)[]): HTMLElement {
  const isLong = text !== undefined && (text.length > lineCharactersMin || /[\n\r]/.test(text))
  return make('div.long', isLong ? scrollable(label) : undefined, nodes)
}

/** Some lines of a narrow window have as many. */
const lineCharactersMin = 80

/** Texts; numbers; words of JSON, JavaScript, Python and the shell. */
const quoted = /"(?:[^"\\]|\\.)*"|'[^']*'/
const words = 'true|false|null|import|from|const|new|await|for|of|with|as|export|curl'
const coloured = new RegExp(`(${quoted.source}|(?<![\\w$])(?:-?\\d[\\w.+-]*|(?:${words})\\b))`)

/** The nodes that show code, its parts in colours. A text before a colon is a name. */
function codeNodes(code: string): (Node | string)[] {
  return code.split(coloured).map((part, at, parts) => {
    if (at % 2 === 0) return escaped(part)
    const kind = !quoted.test(part) ? 'value' : parts[at + 1]?.startsWith(':') ? 'name' : 'text'
    // Lines of JSON, and their indentation, are layout; characters of its texts are escaped.
    const lines = part.split(/(\n *)/).flatMap((line, at) => (at % 2 === 1 ? line : marked(line)))
    return make(`bdi.code-${kind}`, lines)
  })
}

/**
 * Shows code in a frame, with a button that copies it. Several texts have tabs.
 *
 * @param codes by name.
 */
export function makeCode(
  label: string,
  codes: Readonly<Record<string, string>>,
  first = Object.keys(codes)[0] ?? '',
  onChoose?: (name: string) => void,
): HTMLElement {
  const block = make('pre', scrollable(label))
  const show = (name: string): void => {
    block.replaceChildren(...codeNodes(codes[name] ?? ''))
    onChoose?.(name)
  }
  const names = Object.keys(codes)
  const head = names.length > 1 ? makeTabs(label, names, first, show) : make('span.hint', label)
  if (names.length === 1) show(first)
  const attributes = { class: 'quiet', 'aria-label': `Copy ${label}` }
  const copier = makeButton('Copy', (button) => copy(block.textContent, button, block), attributes)
  return make('div.code', make('div.row', head, copier), block)
}
