// The tags of the whole store with their numbers, as chips that filter the table.

import type { Summary } from './client.js'
import { find } from './find.js'
import { make, makeButton } from './make.js'
import { escaped, shown } from './plant-text.js'
import { plantsOf } from './range.js'
import { isOneLine } from './text-field.js'

type TagCount = Summary['tags'][number]

const chipsMax = 8
const marginPx = 16
/** The server returns at most this many tags; a full list may be incomplete. */
const tagsMax = 100

export interface Tags {
  show(summary: Summary): void
  /** Removes numbers that may be out of date. */
  hide(): void
  /** Marks the tag that filters the table; empty for none. */
  choose(tag: string): void
}

/** @param onTag receives the tag that was pressed, or an empty text to show all. */
export function createTags(onTag: (tag: string) => void): Tags {
  let known: Summary | undefined
  let chosen = ''

  function draw(): void {
    const tags = known?.tags ?? []
    const first = tags.slice(0, chipsMax)
    const isShown = chosen === '' || first.some(({ tag }) => tag === chosen)
    const extra = isShown ? [] : [tags.find(({ tag }) => tag === chosen) ?? { tag: chosen, plants: undefined }]
    const rest = tags.slice(chipsMax)
    find('#chips').replaceChildren(...[...extra, ...first].map(toChip))
    showChosen()
    find('#more-chips').replaceChildren(...rest.map(toChip))
    find('#more-tags').hidden = tags.length === 0 && chosen === ''
    find('#tags-hint').textContent = known === undefined ? '' : describe(known)
    const suggested = tags.filter(({ tag }) => isOneLine(tag) && escaped(tag) === tag)
    find('#tags').replaceChildren(...suggested.map(({ tag }) => new Option(tag, tag)))
  }

  /** Chips that do not fit are scrolled to. */
  function showChosen(): void {
    const chips = find('#chips')
    const chip = chips.querySelector('[aria-pressed="true"]')
    if (!(chip instanceof HTMLElement)) return
    const { left, right } = chips.getBoundingClientRect()
    const box = chip.getBoundingClientRect()
    if (box.left < left || box.right > right) chips.scrollLeft += box.left - left - marginPx
  }

  function toChip({ tag, plants }: { readonly tag: string; readonly plants: number | undefined }): HTMLButtonElement {
    const chip = makeButton(shown(tag), () => onTag(tag === chosen ? '' : tag))
    chip.className = 'chip'
    chip.ariaPressed = String(tag === chosen && tag !== '')
    // The API has no filter for it.
    chip.disabled = tag === ''
    if (chip.disabled) chip.title = 'No search finds empty tags.'
    if (plants !== undefined) chip.append(' ', make('span', 'count', plants.toLocaleString('en')))
    return chip
  }

  return {
    show: (summary) => {
      known = summary
      draw()
    },
    hide: () => {
      known = undefined
      draw()
    },
    choose: (tag) => {
      chosen = tag
      draw()
    },
  }
}

function describe({ plants, tags, isExact }: Summary): string {
  if (!isExact || tags.length >= tagsMax) return `The ${tags.length} most common tags.`
  const untagged = plants - tags.reduce((sum: number, tag: TagCount) => sum + tag.plants, 0)
  if (untagged <= 0) return ''
  return `${plantsOf(untagged)} ${untagged === 1 ? 'has' : 'have'} no tag.`
}
