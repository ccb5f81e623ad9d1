// A plant that somebody else changed while a person was about to change it: both versions, side by side.

import { type Child, make, makeTable } from './elements.js'
import { boxed, marked, shownOrNone } from './plant-text.js'
import { isUsual, shownText, withoutId } from './properties.js'

/**
 * Shows two versions of a plant: its name and tag, and what differs, which is marked.
 *
 * @param titles what the versions are called.
 */
export function sideBySide(titles: readonly [string, string], one: object, other: object): Node {
  const row = (title: string, texts: readonly [string | undefined, string | undefined]): Child[] => {
    const cells = differencesOf(...texts).map((nodes, at) => boxed(`${title}, ${titles[at]}`, texts[at], ...nodes))
    return [make('th', { scope: 'row' }, title), ...cells]
  }
  const rows = withoutId.flatMap((property) => {
    const [text, otherText] = [shownText(property, one), shownText(property, other)]
    return isUsual(property) || text !== otherText ? [row(property.title, [text, otherText])] : []
  })
  return makeTable(['', ...titles], rows)
}

/** Scrolls what is in a place so that the difference of each long text is seen. */
export function showDifferences(place: HTMLElement): void {
  for (const box of place.querySelectorAll('.long')) {
    const mark = box.querySelector('mark')
    if (mark !== null) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top
  }
}

/** The nodes of each text, with a mark around what is between their common beginning and end. */
function differencesOf(one: string | undefined, other: string | undefined): readonly [Node[], Node[]] {
  if (one === other) return [[shownOrNone(one)], [shownOrNone(other)]]
  if (!one || !other) return [[make('mark', shownOrNone(one))], [make('mark', shownOrNone(other))]]
  // By grapheme, so that no mark splits what is seen as one character.
  const [ones, others] = [one, other].map((text) => Array.from(graphemes.segment(text), ({ segment }) => segment))
  if (ones === undefined || others === undefined) return [[], []]
  const shorter = Math.min(ones.length, others.length)
  let start = 0
  while (start < shorter && ones[start] === others[start]) start += 1
  let kept = 0
  while (kept < shorter - start && ones.at(-1 - kept) === others.at(-1 - kept)) kept += 1
  return [around(ones, start, kept), around(others, start, kept)]
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function around(parts: readonly string[], start: number, kept: number): Node[] {
  const text = parts.join('')
  const from = parts.slice(0, start).join('').length
  const to = text.length - parts.slice(parts.length - kept).join('').length
  const middle = from === to ? [] : [make('mark', ...marked(text, [from, to]))]
  return [make('bdi', ...marked(text, [0, from]), ...middle, ...marked(text, [to, text.length]))]
}
