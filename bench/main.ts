// `npm run bench [-- NAME]` runs one bench, or all; `npm run bench -- plots` renders the results.

import { inspect, parseArgs } from 'node:util'
import { type Bench, benches } from './all.ts'
import { renewDocument } from './document.ts'
import { benchGuard } from './guard.ts'
import { describeMachine, findVersions } from './machine.ts'
import { here } from './process.ts'
import { type Comparison, keepRun, textOf } from './results.ts'
import { benchScale } from './scale.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
  },
})
const [name = 'create'] = positionals
const effort = { rounds: Number(values.rounds), roundSeconds: Number(values.seconds) }
if (!(effort.rounds >= 1 && effort.roundSeconds >= 1)) throw new TypeError('--rounds and --seconds must be at least 1')
const named: Readonly<Record<string, Bench>> = { ...benches, scale: benchScale, guard: benchGuard }
const bench = named[name]

if (name === 'plots') {
  await renewDocument(values.json ?? here('../docs/benchmarks/results.json'))
} else if (name === 'all') {
  for (const [each, bench] of Object.entries(benches)) {
    // A failed bench does not stop the others.
    await run(each, bench).catch((error: unknown) => {
      process.stderr.write(`${each}: ${inspect(error)}\n`)
      process.exitCode = 1
    })
  }
} else if (bench !== undefined) {
  await run(name, bench)
} else {
  process.stderr.write(`unknown bench ${name}; known are all, plots, ${Object.keys(named).join(', ')}\n`)
  process.exitCode = 2
}

async function run(name: string, bench: Bench): Promise<void> {
  const date = new Date().toISOString()
  const machine = describeMachine()
  const versions = await findVersions()
  const comparisons: Comparison[] = []
  process.stdout.write(`${name}: ${machine}, Node.js ${process.version}\n\n`)
  for await (const comparison of bench(effort)) {
    process.stdout.write(`${textOf(comparison)}\n`)
    comparisons.push(comparison)
  }
  if (values.json !== undefined) await keepRun(values.json, name, { date, machine, versions, comparisons })
}
