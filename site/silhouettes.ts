// Six drawings of plants, one of which stands for each tag.

import { draw } from './icons.js'
import { hashOf } from './tags.js'

const pot = 'M7 16h10l-1.2 6H8.2z M6 14h12v2H6z '
const drawings = [
  // Broad leaves, a cactus, a fern, a flower, a tree and grass.
  'M11.3 14v-3C7 11 4 8 4 3c5 0 7 3 8 6 0-4 3-7 8-7 0 5-3 8-7.3 9v3z',
  'M9.5 14V5a2.5 2.5 0 0 1 5 0v4H16V7a1.5 1.5 0 0 1 3 0v3a2 2 0 0 1-2 2h-2.5v2z M8.5 12H7a2 2 0 0 1-2-2V9a1.5 1.5 0 0 1 3 0h.5z',
  'M11.3 14V2h1.4v12z M11 5 6 2c0 3 2 5 5 5z M13 5l5-3c0 3-2 5-5 5z M11 9.5 4 6c0 4 3 6 7 6z M13 9.5 20 6c0 4-3 6-7 6z',
  'M11.3 14V9h1.4v5z M12 1a2.5 2.5 0 0 1 2.2 1.5 2.5 2.5 0 0 1 2.3 4A2.5 2.5 0 0 1 12 9.5 2.5 2.5 0 0 1 7.5 6.5a2.5 2.5 0 0 1 2.3-4A2.5 2.5 0 0 1 12 1z M12 14c0-2 2-4 5-4 0 3-2 4-5 4z',
  'M11 14v-3.2A5 5 0 0 1 7 3.5a5.5 5.5 0 0 1 10 0 5 5 0 0 1-4 7.3V14z',
  'M11.2 14 10.5 1h3l-.7 13z M10 14C9.5 9 7.5 5 4 3c3.5 0 6.5 4 7 11z M14 14c.5-5 2.5-9 6-11-3.5 0-6.5 4-7 11z',
]

/** @param text a tag, or the id of a plant without one. */
export function silhouetteOf(text: string): SVGElement {
  return draw(pot + (drawings[hashOf(text) % drawings.length] ?? ''), 'plant')
}
