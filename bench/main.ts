// `npm run bench [-- NAME]`: measures one thing side by side with what it is compared to.

import { benchCreate } from './create.ts'

const benches: Readonly<Record<string, () => Promise<void>>> = { create: benchCreate }

const name = process.argv[2] ?? 'create'
const bench = benches[name]
if (bench === undefined) {
  process.stderr.write(`there is no bench ${name}, only ${Object.keys(benches).join(', ')}\n`)
  process.exitCode = 2
} else {
  await bench()
}
