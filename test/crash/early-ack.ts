// Preloaded into a server as a control: its store acknowledges creates before the commit.

import { GroupedStore } from '../../src/store/grouped-store.ts'

const { createPlant } = GroupedStore.prototype

GroupedStore.prototype.createPlant = function (
  ...call: Parameters<typeof createPlant>
): ReturnType<typeof createPlant> {
  createPlant.apply(this, call).catch(() => {})
  return Promise.resolve('created')
}
