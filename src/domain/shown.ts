// Text for display: amounts, shell words, and untrusted text without control characters.

/**
 * Characters that control a terminal: control characters, line separators, and bidirectional overrides, which show
 * `pdf.exe` as `exe.fdp` (Unicode TR 36, section 2.3). Marks that languages need, such as U+200F, are not included.
 */
const controls = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu

/** Replaces the characters that control a terminal with U+FFFD. */
export function withoutControls(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}

/** Replaces the characters that control a terminal with JSON escapes such as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A wall clock time in the format of RFC 3339, in UTC; milliseconds are omitted if they are 0. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

/** `1 plant`, `2 plants`. */
export function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Quotes a word for a POSIX shell if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
