// The tags of the whole store with their numbers, as chips that filter the table.

import type { Summary } from './client.js'
import { find, make } from './elements.js'
import { makeIcon, silhouetteOf } from './icons.js'
import type { Values } from './properties.js'
import { escaped, shown } from './texts.js'

const chipsMax = 8
/** Tags keep their places while their numbers change. */
let order: readonly string[] = []
/** In pixels, of the chip before the one that is pressed. */
const roomBefore = 40
/** The server returns at most this many tags; a full list may be incomplete. */
const tagsMax = 100

/**
 * @param summary undefined if the numbers may be out of date.
 * @param chosen the tag that filters the table; empty for none.
 */
export function drawTags(summary: Summary | undefined, chosen: string): void {
  const placeOf = ({ tag }: { readonly tag: string }): number => (order.includes(tag) ? order.indexOf(tag) : tagsMax)
  const tags = (summary?.tags ?? []).toSorted((one, other) => placeOf(one) - placeOf(other))
  if (summary !== undefined) order = tags.map(({ tag }) => tag)
  const first = tags.slice(0, chipsMax)
  const isShown = chosen === '' || first.some(({ tag }) => tag === chosen)
  const extra = isShown ? [] : [tags.find(({ tag }) => tag === chosen) ?? { tag: chosen }]
  const toChips = (some: Summary['tags'] | typeof extra): HTMLElement[] => some.map((each) => toChip(each, chosen))
  const chips = make('span', toChips([...extra, ...first]))
  // A click on a chip that is replaced is lost.
  if (chips.innerHTML !== find('#chips').innerHTML) {
    const held = document.querySelector<HTMLElement>('#chips > :focus')?.dataset['tag']
    find('#chips').replaceChildren(...chips.children)
    const chip = document.querySelector<HTMLElement>(`#chips > [data-tag="${CSS.escape(held ?? '')}"]`)
    if (held !== undefined) chip?.focus({ preventScroll: true })
    const pressed = document.querySelector<HTMLElement>('#chips > [aria-pressed="true"]')
    if (pressed !== null) find('#chips').scrollLeft = pressed.offsetLeft - find('#chips').offsetLeft - roomBefore
  }
  find('#more-chips').replaceChildren(...toChips(tags.slice(chipsMax)))
  find('#more-tags').hidden = tags.length === 0 && chosen === ''
  const isAll = summary === undefined || (summary.isExact && tags.length < tagsMax)
  find('#tags-hint').textContent = isAll ? '' : `The ${tags.length} most common tags.`
  const suggested = tags.filter(({ tag }) => !tag.includes('\n') && escaped(tag) === tag)
  find('#tags').replaceChildren(...suggested.map(({ tag }) => new Option(tag, tag)))
}

/** A chip that is pressed shows all plants when it is pressed again. */
function toChip({ tag, plants }: { readonly tag: string; readonly plants?: number }, chosen: string): HTMLElement {
  const isChosen = tag === chosen && tag !== ''
  const chip = make(
    'button.chip',
    {
      type: 'button',
      'data-action': 'tag',
      'data-tag': tag,
      value: isChosen ? '' : tag,
      'aria-pressed': String(isChosen),
    },
    // The API has no filter for it.
    tag === '' ? { disabled: '', title: 'Empty tags cannot be searched.' } : undefined,
    shown(tag),
    ' ',
    make('span.count', plants?.toLocaleString('en')),
    isChosen && [make('span.unseen', ': clear this filter'), makeIcon('close')],
  )
  return tint(chip, tag)
}

const huesMax = 18

/** Gives an element the colour of a tag, which depends on its text alone. None for an empty tag. */
export function tint<Kind extends HTMLElement>(element: Kind, tag: string): Kind {
  element.classList.toggle('tag', tag !== '')
  const hash = [...tag].reduce((before, character) => (before * 14 + (character.codePointAt(0) ?? 0)) % 971, 0)
  element.style.setProperty('--hue', String(((hash % huesMax) * 360) / huesMax))
  return element
}

/** Shows what a plant looks like at the head of its panel. */
export function paint(head: HTMLElement, { name, tag = '' }: Values): void {
  find('.glyph', HTMLElement, tint(head, tag)).replaceChildren(silhouetteOf(name, tag))
}
