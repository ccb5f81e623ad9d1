// The error of a file that cannot be read.

/** The file, or the rest of it, cannot be read. The message gives the reason, as words that follow the file's name. */
export class UnreadableFile extends Error {}
