// The corpus: bodies by name, each production of RFC 8259's grammar broken in turn, and what must come of each.

import type { Case } from './corpus/case.ts'
import { encodings } from './corpus/encodings.ts'
import { numbers } from './corpus/numbers.ts'
import { strings } from './corpus/strings.ts'
import { structure } from './corpus/structure.ts'
import { texts } from './corpus/texts.ts'

export const corpus: readonly Case[] = [...texts, ...structure, ...numbers, ...strings, ...encodings]
