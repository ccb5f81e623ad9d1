// The kit against the wrong servers of wrong/plants.ts.

import { testWrong } from './judge.ts'
import { ofPlants } from './wrong/plants.ts'

testWrong(ofPlants)
