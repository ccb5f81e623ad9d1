// The form of the tables of wrong servers. They follow the document: every sentence has the servers that break it.

import type { Behaviour } from '../wrong-servers.ts'

/** What a server does wrong, and the rows that must fail. */
export type Wrong = readonly [does: string, behave: Behaviour, ...rows: readonly [string, ...string[]]]

/** Sentences of the document that say the same, and the servers that break it, or why there is none. */
export type Entry =
  | { readonly says: readonly string[]; readonly wrong: readonly Wrong[] }
  | { readonly says: readonly string[]; readonly because: string }
