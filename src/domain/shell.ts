// Commands that people are told to run.

/** A word as a POSIX shell takes it for one; in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
