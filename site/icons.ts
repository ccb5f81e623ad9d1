// The icons of the page: a drawing for each element with `data-icon`.

/*! Drawings of Lucide (https://lucide.dev), some simplified. ISC License, Copyright (c) Lucide Icons and Contributors.
Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies. THE SOFTWARE IS PROVIDED "AS IS"
AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY
AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY
DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER
TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE. */
const drawings = {
  changes: 'M22 12h-4l-3 9L9 3l-3 9H2',
  close: 'M18 6 6 18 M6 6l12 12',
  code: 'M16 18l6-6-6-6 M8 6l-6 6 6 6',
  download: 'M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4 M7 10l5 5 5-5 M12 15V3',
  edit: 'M12 20h9 M16.4 3.6a2.1 2.1 0 0 1 3 3L7 19l-4 1 1-4z',
  first: 'M11 17l-5-5 5-5 M18 17l-5-5 5-5',
  left: 'M15 18l-6-6 6-6',
  link: 'M10 13a5 5 0 0 0 7.5.5l3-3a5 5 0 0 0-7-7L12 5 M14 11a5 5 0 0 0-7.5-.5l-3 3a5 5 0 0 0 7 7L12 19',
  list: 'M11 12H3 M16 6H3 M16 18H3 M18 9v6 M21 12h-6',
  more: 'M6 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0z M13 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0z M20 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0z',
  plus: 'M5 12h14 M12 5v14',
  remove: 'M3 6h18 M19 6v14a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V6 M8 6V4a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v2',
  right: 'M9 18l6-6-6-6',
  search: 'M19 11a8 8 0 1 1-16 0 8 8 0 0 1 16 0z M21 21l-4.3-4.3',
  up: 'M6 15l6-6 6 6',
  user: 'M19 21v-2a4 4 0 0 0-4-4H9a4 4 0 0 0-4 4v2 M16 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0z',
} as const

const svg = 'http://www.w3.org/2000/svg'

/** @param kind the class of the drawing. */
export function draw(kind: string, ...paths: readonly string[]): SVGElement {
  const icon = document.createElementNS(svg, 'svg')
  icon.setAttribute('viewBox', '0 0 24 24')
  icon.setAttribute('class', kind)
  icon.setAttribute('aria-hidden', 'true')
  for (const drawing of paths) {
    const path = document.createElementNS(svg, 'path')
    path.setAttribute('d', drawing)
    icon.append(path)
  }
  return icon
}

export function makeIcon(name: keyof typeof drawings): SVGElement {
  return draw('icon', drawings[name])
}

export function drawIcons(): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-icon]')) {
    place.replaceWith(makeIcon(place.dataset['icon'] as keyof typeof drawings))
  }
}
