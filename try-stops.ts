import { startDatabase } from './test/support/postgres.ts'
import { stopServers } from './test/deploy/stops.ts'
await using db = await startDatabase()
const [proxy, stops, signal] = process.argv.slice(2)
const t = performance.now()
console.log(await stopServers({ store: await db.makePlace(), proxy: proxy as any, stops: Number(stops), signal: signal as any }), performance.now() - t)
