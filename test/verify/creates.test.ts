// The kit against the wrong servers of wrong/creates.ts and wrong/plants.ts.

import { testWrong } from './judge.ts'
import { creates } from './wrong/creates.ts'
import { ofPlants } from './wrong/plants.ts'

testWrong([...creates, ...ofPlants])
