// The tables of docs/benchmarks.md. They show fewer figures than results.json has.

import { type Column, type Comparison, columnsOf, type FigureName, formatNumber } from './results.ts'

/** Titles of comparisons at an equal rate end with this; the beginning is the title of the one without a rate. */
const atEqualRate = ', at an equal rate'
/** A note names the contenders that answered less than this share of the rate. */
const rateShareMin = 0.95

interface Table {
  readonly title: string
  readonly names: readonly string[]
  readonly columns: readonly Column[]
  readonly notes?: readonly string[]
}

/** The tables of a bench. A comparison and the one at an equal rate share a table. */
export function tablesOf(comparisons: readonly Comparison[]): string {
  const tables = comparisons
    .filter(({ title }) => !title.endsWith(atEqualRate))
    .map((comparison) => {
      const rated = comparisons.find(({ title }) => title === `${comparison.title}${atEqualRate}`)
      return rated === undefined ? tableOf(comparison) : tableWithRate(comparison, rated)
    })
  return tables.join('\n')
}

/** One figure of several comparisons, each of which has a column. */
export function tableByComparison(title: string, comparisons: readonly Comparison[], figure: FigureName): string {
  const columns = comparisons.flatMap((comparison) => {
    // The first column has the medians, the second the ratios.
    const [medians] = columnsOf(comparison, [figure])
    return medians === undefined ? [] : [{ ...medians, title: grouped(comparison.title) }]
  })
  return markdownOf({ title, names: [...new Set(comparisons.flatMap(namesOf))], columns })
}

function tableOf(comparison: Comparison): string {
  const { note, ratePerSecond } = comparison
  const requests: readonly FigureName[] = ratePerSecond === undefined ? ['perSecond'] : []
  return markdownOf({
    title: titleOf(comparison),
    names: namesOf(comparison),
    columns: columnsOf(comparison, [
      ...(['seconds', 'plantsPerSecond'] as const),
      ...requests,
      ...(['pagesPerSecond', 'p50Ms', 'p99Ms', 'eventP50Ms', 'eventP99Ms', 'cpuMicroseconds'] as const),
    ]),
    notes: [...(note === undefined ? [] : [note]), ...lateOf(comparison)],
  })
}

/** Without a rate, p50 is only the wait for other requests, and CPU time includes waking the clients. */
function tableWithRate(comparison: Comparison, rated: Comparison): string {
  const atRate = `at ${formatNumber(rated.ratePerSecond ?? 0)}/s`
  const ratedColumns = columnsOf(rated, ['p50Ms', 'p99Ms', 'cpuMicroseconds'])
  return markdownOf({
    title: titleOf(comparison),
    names: namesOf(comparison),
    columns: [
      ...columnsOf(comparison, ['perSecond', 'p99Ms']),
      ...ratedColumns.map((column) => ({ ...column, title: `${column.title} ${atRate}` })),
    ],
    notes: lateOf(rated),
  })
}

function titleOf({ title, connections, ratePerSecond, contenders }: Comparison): string {
  const rounds = contenders[0]?.rounds.length ?? 0
  return [
    `**${grouped(title)}**`,
    ...(connections === undefined ? [] : [`${connections} connection${connections === 1 ? '' : 's'}`]),
    ...(ratePerSecond === undefined ? [] : [`${formatNumber(ratePerSecond)} requests/s`]),
    rounds === 1 ? 'once' : `${rounds} rounds`,
  ].join(', ')
}

function lateOf({ contenders, ratePerSecond = 0 }: Comparison): readonly string[] {
  return contenders.flatMap(({ name, medians: { perSecond = 0 } }) =>
    perSecond < rateShareMin * ratePerSecond
      ? [`${name} answered only ${formatNumber(perSecond)} of ${formatNumber(ratePerSecond)} requests/s.`]
      : [],
  )
}

const namesOf = ({ contenders }: Comparison): readonly string[] => contenders.map(({ name }) => name)

/** A column without a single value is left out. */
function markdownOf({ title, names, columns, notes = [] }: Table): string {
  const filled = columns.filter(({ cellOf }) => names.some((name) => cellOf(name) !== ''))
  const head = ['', ...filled.map((column) => column.title)]
  const rule = ['---', ...filled.map(() => '---:')]
  const rows = names.map((name) => [grouped(name), ...filled.map(({ cellOf }) => cellOf(name))])
  const lines = [head, rule, ...rows].map((row) => `| ${row.join(' | ')} |`)
  return `${[`${title}:`, '', ...lines, ...notes.flatMap((note) => ['', grouped(note)])].join('\n')}\n`
}

/** Text whose large numbers have commas, except in queries such as `limit=1000`. */
function grouped(text: string): string {
  return text.replace(/(?<![=\d.])\d{4,}/g, (digits) => formatNumber(Number(digits)))
}
