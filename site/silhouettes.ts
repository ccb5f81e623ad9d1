// Drawings of plants in pots, for the words of a tag or a name.

import { draw } from './icons.js'

const pot = 'M7 17h10l-1.2 6H8.2z M6 15h12v2H6z'
const leaves = 'M11.3 15v-4C7 11 4 8 4 3c5 0 7 3 8 6 0-4 3-7 8-7 0 5-3 8-7.3 9v4z'
/** By the words, as a pattern, for which each stands. */
const drawings = {
  'succul|cact|aloe|agave|desert':
    'M9.5 15V5a2.5 2.5 0 0 1 5 0v5H16V8a1.5 1.5 0 0 1 3 0v3a2 2 0 0 1-2 2h-2.5v2z M8.5 13H7a2 2 0 0 1-2-2V9a1.5 1.5 0 0 1 3 0h.5z',
  'fern|moss':
    'M11.3 15V2h1.4v13z M11 5 6 2c0 3 2 5 5 5z M13 5l5-3c0 3-2 5-5 5z M11 10 4 6c0 4 3 6.5 7 6.500z M13 10 20 6c0 4-3 6.5-7 6.500z',
  'flower|bloom|bromel|orchid|ros[ae]|lil[yi]':
    'M11.3 15V9h1.4v6z M12 1a2.5 2.5 0 0 1 2.2 1.5 2.5 2.5 0 0 1 2.3 4A2.5 2.5 0 0 1 12 9.5 2.5 2.5 0 0 1 7.5 6.500a2.5 2.5 0 0 1 2.3-4A2.5 2.5 0 0 1 12 1z M12 15c0-2 2-4 5-4 0 3-2 4-5 4z',
  'tree|\\bfig\\b|fruit|citrus|bonsai': 'M11 15v-4.200A5 5 0 0 1 7 3.500a5.5 5.5 0 0 1 10 0 5 5 0 0 1-4 7.300V15z',
  'palm|grass|bamboo|reed|herb':
    'M11.2 15 10.5 1h3l-.7 14z M10 15C9.5 10 7.5 6 4 4c3.5 0 6.5 4 7 11z M14 15c.5-5 2.5-9 6-11-3.5 0-6.5 4-7 11z',
  'trail|hang|vine|climb|ivy':
    'M12 15C10 8 5 5 1 8c4 0 7 2 9 7z M12 15c2-7 7-10 11-7-4 0-7 2-9 7z M9 15C5 11 2 13 2 21c2-4 4-6 7-6z M15 15c4-4 7-2 7 6-2-4-4-6-7-6z M11 15c-2-5-1-9 1-13 2 4 3 8 1 13z',
}

/** A drawing for a plant, by its tag or else its name. */
export function silhouetteOf(name: string, tag: string): SVGElement {
  const find = (text: string): string | undefined =>
    Object.entries(drawings).find(([words]) => new RegExp(words, 'i').test(text))?.[1]
  return draw('plant', pot, find(tag) ?? find(name) ?? leaves)
}
