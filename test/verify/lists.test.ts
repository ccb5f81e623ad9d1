// The kit against the wrong servers of wrong/changes.ts, wrong/lists.ts and wrong/service.ts.

import { testWrong } from './judge.ts'
import { changes } from './wrong/changes.ts'
import { lists } from './wrong/lists.ts'
import { service } from './wrong/service.ts'

testWrong([...lists, ...changes, ...service])
