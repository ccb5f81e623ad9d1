// Writes the last results of benches into docs/benchmarks.md: tables between the marks named after the benches, the
// machine and the versions at the top, and the plots.

import { readFile, writeFile } from 'node:fs/promises'
import { drawPlots } from './plots.ts'
import { here } from './process.ts'
import { type Comparison, type Results, readResults } from './results.ts'
import { tableByComparison, tablesOf } from './tables.ts'

const document = here('../docs/benchmarks.md')

type Section = (comparisons: readonly Comparison[]) => string

/** Benches that do not use `tablesOf`. */
const sections: Readonly<Record<string, Section>> = {
  connections: (all) =>
    [
      tableByComparison('**requests/s by connections**', all, 'perSecond'),
      tableByComparison('**p99 ms by connections**', all, 'p99Ms'),
    ].join('\n'),
  size: (all) =>
    [
      tableByComparison('**CPU µs by plants in the store**', all, 'cpuMicroseconds'),
      tableByComparison('**p99 ms by plants in the store**', all, 'p99Ms'),
    ].join('\n'),
  scale: (all) => {
    const programs = all.filter(({ connections }) => connections === undefined)
    const requests = all.filter(({ connections }) => connections !== undefined)
    return [tableByComparison('**Seconds that each takes**', programs, 'seconds'), tablesOf(requests)].join('\n')
  },
}

export async function renewDocument(file: string): Promise<void> {
  const results = await readResults(file)
  await writeFile(document, withResults(await readFile(document, 'utf8'), results))
  await drawPlots(results)
}

/** Renders the tables into the text. A bench without marks in the text is left out. */
export function withResults(text: string, results: Results): string {
  const marks = /(<!-- ([\w-]+) -->\n)[\s\S]*?(<!-- end of \2 -->\n)/g
  return text.replace(marks, (_, begin: string, name: string, end: string) => {
    const between = name === 'machine' ? machineOf(results) : tablesFor(name, results)
    return `${begin}\n${between}\n${end}`
  })
}

function tablesFor(name: string, results: Results): string {
  const run = results[name]
  if (run === undefined) throw new Error(`docs/benchmarks.md has marks for ${name}, but there are no results of it`)
  return (sections[name] ?? tablesOf)(run.comparisons)
}

/** When, on which machine and with which versions the benches ran: one line, or one for each difference. */
function machineOf(results: Results): string {
  const alike = Map.groupBy(Object.entries(results), ([, { machine, versions }]) => {
    const named = Object.entries(versions).map((pair) => pair.join(' '))
    return `${machine}; ${named.join(', ')}`
  })
  const lines = [...alike].map(([what, runs]) => {
    const dates = runs.map(([, { date }]) => date.slice(0, 10)).toSorted()
    const when = [...new Set([dates.at(0), dates.at(-1)])].join(' to ')
    const names = alike.size === 1 ? '' : `${runs.map(([name]) => name).join(', ')}: `
    // Wrapped like the rest of the page.
    return `${names}${when}, ${what}.`.replace(/(.{1,120})(?: |$)/g, '$1\n')
  })
  return lines.join('\n')
}
