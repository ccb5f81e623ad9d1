// Plants of the bundled document.

import { loadContract } from '../../src/contract/contract.ts'
import { toPlants } from '../../src/contract/plant.ts'

export const toPlant = toPlants(loadContract().properties.map(({ name }) => name))
