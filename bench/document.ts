// Puts the last results of benches into docs/benchmarks.md: tables between the marks that are named for the benches,
// and the plots.

import { readFile, writeFile } from 'node:fs/promises'
import { drawPlots } from './plots.ts'
import { here } from './process.ts'
import { type BenchRun, markdownOf, readResults } from './results.ts'

const document = here('../docs/benchmarks.md')

export async function renewDocument(file: string): Promise<void> {
  const results = await readResults(file)
  let text = await readFile(document, 'utf8')
  for (const [name, run] of Object.entries(results)) {
    const mark = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- end of ${name} -->\n)`)
    if (!mark.test(text)) throw new Error(`docs/benchmarks.md has no place for ${name}`)
    text = text.replace(mark, (_, begin: string, end: string) => `${begin}\n${sectionOf(run)}\n${end}`)
  }
  await writeFile(document, text)
  await drawPlots(results)
}

function sectionOf({ date, machine, versions, comparisons }: BenchRun): string {
  const of = Object.entries(versions)
  const named = ['node', 'sqlite', 'fastify'].flatMap((name) => of.filter(([each]) => each === name))
  const measured = `${date.slice(0, 10)}, ${machine}, ${named.map((pair) => pair.join(' ')).join(', ')}.`
  return [...comparisons.map(markdownOf), measured].join('\n')
}
