// Commands to be pasted into a shell.

/** A text as a POSIX shell takes it for one word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
