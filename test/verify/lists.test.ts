// The kit against the wrong servers of wrong/lists.ts.

import { testWrong } from './judge.ts'
import { changes, lists } from './wrong/lists.ts'

testWrong([...lists, ...changes])
