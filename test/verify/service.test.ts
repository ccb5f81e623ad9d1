// The kit against the wrong servers of wrong/service.ts.

import { testWrong } from './judge.ts'
import { service } from './wrong/service.ts'

testWrong(service)
