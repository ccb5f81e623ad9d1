// The framing corpus: broken, ambiguous and hostile requests by name.

import { bodies } from './bodies.ts'
import type { FramingCase } from './case.ts'
import { expectations } from './expect.ts'
import { fields } from './fields.ts'
import { leaving } from './leaving.ts'
import { requestLines } from './request-lines.ts'
import { smuggling } from './smuggling.ts'

export const framingCorpus: readonly FramingCase[] = [
  ...requestLines,
  ...fields,
  ...bodies,
  ...smuggling,
  ...expectations,
  ...leaving,
]
