// Texts of others that are shown to people.

/**
 * A text of somebody else's, without what a terminal would obey: control characters, and those that make lines and
 * turn the direction of what follows, so that `exe.fdp` is shown for `pdf.exe` (Unicode TR 36, section 2.3). Marks that
 * languages need, such as U+200F, stay.
 */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '\ufffd')
}
