// Texts of others that are shown to people.

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
