// Plants of the bundled document.

import { loadContract } from '../../src/contract/contract.ts'

export const { toPlant } = loadContract()
