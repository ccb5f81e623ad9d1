// The kit against the wrong servers of wrong/creates.ts.

import { testWrong } from './judge.ts'
import { creates } from './wrong/creates.ts'

testWrong(creates)
