// The tags of the whole store with their numbers, as chips that filter the table.

import type { Summary } from './client.js'
import { find, make } from './elements.js'
import { escaped, shown } from './texts.js'

const chipsMax = 8
const marginPx = 16
/** The server returns at most this many tags; a full list may be incomplete. */
const tagsMax = 100

let known: Summary | undefined
let chosen = ''

/** @param summary undefined if the numbers may be out of date. */
export function showTags(summary: Summary | undefined): void {
  known = summary
  draw()
}

/** Marks the tag that filters the table; empty for none. */
export function choose(tag: string): void {
  chosen = tag
  draw()
}

/** Twelve colours are easy to tell apart. */
const huesMax = 12
/** By tag, the colours that are taken. */
const hues = new Map<string, number>()

/** Gives an element the colour of a tag: one of its own for each of the first tags. None for an empty tag. */
export function tint<Kind extends HTMLElement>(element: Kind, tag: string): Kind {
  element.classList.toggle('tag', tag !== '')
  if (tag === '') return element
  const sum = [...tag].reduce((before, character) => (before * 98 + (character.codePointAt(0) ?? 0)) % 997, 0)
  let hue = hues.get(tag) ?? sum % huesMax
  if (!hues.has(tag) && hues.size < huesMax) {
    while ([...hues.values()].includes(hue)) hue = (hue + 1) % huesMax
    hues.set(tag, hue)
  }
  element.style.setProperty('--hue', String((hue * 360) / huesMax))
  return element
}

function draw(): void {
  const tags = known?.tags ?? []
  const first = tags.slice(0, chipsMax)
  const isShown = chosen === '' || first.some(({ tag }) => tag === chosen)
  const extra = isShown ? [] : [tags.find(({ tag }) => tag === chosen) ?? { tag: chosen, plants: undefined }]
  find('#chips').replaceChildren(...[...extra, ...first].map(toChip))
  showChosen()
  find('#more-chips').replaceChildren(...tags.slice(chipsMax).map(toChip))
  find('#more-tags').hidden = tags.length === 0 && chosen === ''
  const isWhole = known === undefined || (known.isExact && tags.length < tagsMax)
  find('#tags-hint').textContent = isWhole ? '' : `The ${tags.length} most common tags.`
  const suggested = tags.filter(({ tag }) => !tag.includes('\n') && escaped(tag) === tag)
  find('#tags').replaceChildren(...suggested.map(({ tag }) => new Option(tag, tag)))
}

/** Chips that do not fit are scrolled to. */
function showChosen(): void {
  const chips = find('#chips')
  const chip = chips.querySelector('[aria-pressed="true"]')
  if (chip === null) return
  chips.scrollLeft += chip.getBoundingClientRect().left - chips.getBoundingClientRect().left - marginPx
}

/** A chip that is pressed shows all plants when it is pressed again. */
function toChip({ tag, plants }: { readonly tag: string; readonly plants: number | undefined }): HTMLElement {
  const isChosen = tag === chosen && tag !== ''
  const chip = make(
    'button.chip',
    { type: 'button', 'data-action': 'tag', value: isChosen ? '' : tag, 'aria-pressed': String(isChosen) },
    // The API has no filter for it.
    tag === '' ? { disabled: '', title: 'Empty tags cannot be searched.' } : undefined,
    shown(tag),
    plants !== undefined && [' ', make('span.count', plants.toLocaleString('en'))],
  )
  return tint(chip, tag)
}
