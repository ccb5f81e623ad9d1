// A test for each row of the kit, with Jest, which names its tests before it runs anything. Put the URL and a token of
// your server in place of ours.
import { startPlantStore } from 'plantstore'
import { rowsOf, verify } from 'plantstore/verify'

let results

beforeAll(async () => {
  await using store = await startPlantStore()
  const { rows } = await verify({ url: store.url, token: store.token })
  results = new Map(rows.map((row) => [row.title, row]))
}, 60_000)

test.each(rowsOf())('$subject: $title', ({ title }) => {
  const { failure } = results.get(title)
  if (failure !== undefined) throw new Error([failure.wrong, ...failure.sent, ...failure.came].join('\n'))
})
