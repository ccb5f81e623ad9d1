// How wide a text is on a terminal, and its beginning of a width: East Asian characters and emoji take two columns,
// marks that belong to the character before them none.

const wide =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u
const invisible = /^[\p{Mark}\p{Format}\p{Control}]+$/u
const ascii = /^[\x20-\x7e]*$/

/** Columns that a text takes up. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length
  let width = 0
  for (const { segment } of segmentsOf(text)) width += widthOf(segment)
  return width
}

/** A text that takes up so many columns at most; one that is wider ends with dots. */
export function fitWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  const dots = '...'.slice(0, columns)
  let fitting = ''
  let width = dots.length
  for (const { segment } of segmentsOf(text)) {
    width += widthOf(segment)
    if (width > columns) break
    fitting += segment
  }
  return `${fitting}${dots}`
}

let segmenter: Intl.Segmenter | undefined

/** The characters of a text as people see them. What finds them takes longer to make than a short command has. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter()
  return segmenter.segment(text)
}

/** Of one character as people see it, which may be several code points. */
function widthOf(segment: string): number {
  if (wide.test(segment)) return 2
  return invisible.test(segment) ? 0 : 1
}
