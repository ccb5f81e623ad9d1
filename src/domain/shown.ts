// Texts as people are shown them: amounts, and texts of others without what a terminal would obey.

/**
 * What a terminal would obey: control characters, and those that make lines and turn the direction of what follows, so
 * that `exe.fdp` is shown for `pdf.exe` (Unicode TR 36, section 2.3). Marks that languages need, such as U+200F, stay.
 */
const controls = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu

/** A text without what a terminal would obey. */
export function withoutControls(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}

/** A text with what a terminal would obey as escapes that JSON has, such as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Lines of JSON with such escapes, which mean the same. */
export function escapeJson(json: string, toShown: (text: string) => string): string {
  return json.replaceAll(/[^\n]+/g, toShown)
}

/** `1 plant`, `2 plants`. */
export function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
