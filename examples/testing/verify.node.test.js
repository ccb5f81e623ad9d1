// A test for each row of the kit, with Node.js's own runner. Put the URL and a token of your server in place of ours.
import { test } from 'node:test'
import { startPlantStore } from 'plantstore'
import { verify } from 'plantstore/verify'

const store = await startPlantStore()
const { rows } = await verify({ url: store.url, token: store.token }).finally(() => store.stop())

for (const { subject, title, skipped = false, failure } of rows) {
  test(`${subject}: ${title}`, { skip: skipped }, () => {
    if (failure !== undefined) throw new Error([failure.wrong, ...failure.sent, ...failure.came].join('\n'))
  })
}
