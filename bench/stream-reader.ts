// Opens streams of changes, so many with each token, and notes how long changes take to arrive: from the time in the
// change to that of its arrival, on one machine.

import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const [url = '', streamsOfToken = '', ...tokens] = process.argv.slice(2)
const latenessMs: number[] = []
let newestMs = performance.now()

await Promise.all(tokens.flatMap((token) => Array.from({ length: Number(streamsOfToken) }, () => follow(token))))
process.send?.('ready')
process.once('message', async () => {
  while (performance.now() - newestMs < 1_000) await sleep(100)
  latenessMs.sort((a, b) => a - b)
  const at = (share: number): number => latenessMs[Math.floor(latenessMs.length * share)] ?? Number.NaN
  process.send?.({ events: latenessMs.length, eventP50Ms: at(0.5), eventP99Ms: at(0.99) }, () => process.exit())
})

/** Resolves when the stream is open. */
function follow(token: string): Promise<void> {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    get(`${url}/changes?after=now`, { headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the server answered ${response.statusCode}`))
      resolve()
      response.setEncoding('utf8').on('data', (text: string) => {
        newestMs = performance.now()
        // A time that is split between two pieces is not counted as late, but as missing.
        for (const [, time = ''] of text.matchAll(/"time":"([^"]+)"/g)) latenessMs.push(Date.now() - Date.parse(time))
      })
    }).on('error', reject)
  })
}
