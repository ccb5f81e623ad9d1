// The drawings, which the server puts into the page: icons, one for each element with `data-icon`, and plants in pots.

import { fill } from './elements.js'

const svg = 'http://www.w3.org/2000/svg'
/** Names of drawings, by the words for which they stand, as patterns. */
const plants = {
  succulent: 'succul|cact|aloe|agave|desert',
  fern: 'fern|moss',
  flower: 'flower|bloom|bromel|orchid|ros[ae]|lil[yi]',
  tree: 'tree|\\bfig\\b|fruit|citrus|bonsai',
  palm: 'palm|grass|bamboo|reed|herb',
  vine: 'trail|hang|vine|climb|ivy',
}

/** @param name of a drawing in drawings.svg. */
export function makeIcon(name: string, kind = 'icon'): SVGElement {
  const icon = document.createElementNS(svg, 'svg')
  const use = document.createElementNS(svg, 'use')
  fill(use, { href: `#drawing-${name}` })
  fill(icon, { viewBox: '0 0 24 24', class: kind, 'aria-hidden': 'true' }, use)
  return icon
}

/** Draws a plant by its tag or else its name. */
export function silhouetteOf(name: string, tag: string): SVGElement {
  const find = (text: string): string | undefined =>
    Object.entries(plants).find(([, words]) => new RegExp(words, 'i').test(text))?.[0]
  return makeIcon(find(tag) ?? find(name) ?? 'leaves', 'plant')
}

for (const place of document.querySelectorAll<HTMLElement>('[data-icon]'))
  place.replaceWith(makeIcon(place.dataset['icon'] ?? ''))
