// `npm run bench [-- NAME]` runs one bench.

import { cpus, release, totalmem, type } from 'node:os'
import { parseArgs } from 'node:util'
import { benchCreate } from './create.ts'
import { benchGet } from './get.ts'
import { benchImport } from './import.ts'
import type { Effort } from './in-turn.ts'
import { benchList } from './list.ts'
import { type Comparison, textOf } from './results.ts'
import { benchStart } from './start.ts'
import { benchStreams } from './streams.ts'

/** Every bench by its name, which is also the name of its file. */
const benches: Readonly<Record<string, (effort: Effort) => AsyncGenerator<Comparison>>> = {
  create: benchCreate,
  get: benchGet,
  list: benchList,
  streams: benchStreams,
  import: benchImport,
  start: benchStart,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' }, seconds: { type: 'string', default: '3' } },
})
const [name = 'create'] = positionals
const effort = { rounds: Number(values.rounds), roundSeconds: Number(values.seconds) }
if (!(effort.rounds >= 1 && effort.roundSeconds >= 1)) throw new TypeError('--rounds and --seconds must be at least 1')
const bench = benches[name]

if (bench === undefined) {
  process.stderr.write(`unknown bench ${name}; known are ${Object.keys(benches).join(', ')}\n`)
  process.exitCode = 2
} else {
  process.stdout.write(`${name}: ${describeMachine()}, Node.js ${process.version}\n\n`)
  for await (const comparison of bench(effort)) process.stdout.write(`${textOf(comparison)}\n`)
}

function describeMachine(): string {
  const [cpu] = cpus()
  const gibibytes = (totalmem() / 1024 ** 3).toFixed(0)
  return `${cpus().length} cores of ${cpu?.model.trim()}, ${gibibytes} GiB, ${type()} ${release()}`
}
