// A test for each row of the kit, with Vitest. Put the URL and a token of your server in place of ours.
import { startPlantStore } from 'plantstore'
import { verify } from 'plantstore/verify'
import { test } from 'vitest'

const store = await startPlantStore()
const { rows } = await verify({ url: store.url, token: store.token }).finally(() => store.stop())

for (const { subject, title, skipped, failure } of rows) {
  test.skipIf(skipped !== undefined)(`${subject}: ${title}`, () => {
    if (failure !== undefined) throw new Error([failure.wrong, ...failure.sent, ...failure.came].join('\n'))
  })
}
