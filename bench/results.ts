// The results of benches: rounds with their medians and ratios, printed as text.

interface Figure {
  readonly title: string
  readonly digits: number
  /** Whether tables show the spread of the rounds and the ratio to the first contender. */
  readonly isCompared?: boolean
}

/** All figures in the order of the columns. CPU time is per request, in all threads of the server. */
const figures = {
  seconds: { title: 'seconds', digits: 1 },
  plantsPerSecond: { title: 'plants/s', digits: 0, isCompared: true },
  perSecond: { title: 'requests/s', digits: 0, isCompared: true },
  p50Ms: { title: 'p50 ms', digits: 2 },
  p99Ms: { title: 'p99 ms', digits: 2 },
  p999Ms: { title: 'p99.9 ms', digits: 2 },
  eventP50Ms: { title: 'event p50 ms', digits: 0 },
  eventP99Ms: { title: 'event p99 ms', digits: 0 },
  cpuMicroseconds: { title: 'CPU µs', digits: 1, isCompared: true },
  userMicroseconds: { title: 'user µs', digits: 1 },
  systemMicroseconds: { title: 'system µs', digits: 1 },
  peakMebibytes: { title: 'peak MiB', digits: 0 },
  generatorPercent: { title: 'generator %', digits: 0 },
} as const satisfies Readonly<Record<string, Figure>>

type FigureName = keyof typeof figures

const figureNames = Object.keys(figures) as readonly FigureName[]

/** The figures of one contender in one round. */
export type Round = Partial<Readonly<Record<FigureName, number>>>

interface Contender {
  readonly name: string
  readonly medians: Round
  /** Ratios to the first contender: the medians of the per-round ratios. */
  readonly ratios: Round
  readonly rounds: readonly Round[]
}

/** Contenders measured in turn; the others are compared to the first. */
export interface Comparison {
  readonly title: string
  /** Describes the measurement. */
  readonly setup: string
  readonly contenders: readonly Contender[]
  /** Explains the figures if necessary. */
  readonly note?: string
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Computes medians and ratios of rounds. */
export function contendersOf(measured: ReadonlyMap<string, readonly Round[]>): Contender[] {
  const [base = []] = measured.values()
  return [...measured].map(([name, rounds]) => ({
    name,
    medians: collect((figure) => median(valuesOf(rounds, figure))),
    ratios: collect((figure) => {
      const reference = valuesOf(base, figure)
      return median(valuesOf(rounds, figure).map((value, round) => value / (reference[round] ?? Number.NaN)))
    }),
    rounds,
  }))
}

/** A comparison as a table for a terminal, with its setup. */
export function textOf(comparison: Comparison): string {
  const columns = columnsOf(comparison)
  const names = comparison.contenders.map(({ name }) => name)
  const padded = [
    padColumn(['', ...names], 'padEnd'),
    ...columns.map(({ title, cellOf }) => padColumn([title, ...names.map(cellOf)], 'padStart')),
  ]
  const lines = ['', ...names].map((_, row) => padded.map((column) => column[row]).join('  '))
  const { title, setup, note } = comparison
  return `${[title, setup, '', ...lines, ...(note === undefined ? [] : ['', note])].join('\n')}\n`
}

function padColumn(cells: readonly string[], side: 'padStart' | 'padEnd'): readonly string[] {
  const width = Math.max(...cells.map(({ length }) => length))
  return cells.map((cell) => cell[side](width))
}

/** A column of a table, which has a row for each contender. */
interface Column {
  readonly title: string
  /** The cell in the row of this contender. */
  cellOf(name: string): string
}

/** The columns of all figures: medians with their spread and, where they are compared, their ratios. */
function columnsOf({ contenders }: Comparison): readonly Column[] {
  const columnOf = (title: string, textOfCell: (contender: Contender) => string): Column => ({
    title,
    cellOf: (name) =>
      contenders
        .filter((each) => each.name === name)
        .map(textOfCell)
        .join(''),
  })
  return figureNames.flatMap((figure) => {
    const { title, digits } = figures[figure]
    if (!contenders.some(({ medians }) => figure in medians)) return []
    const isCompared = 'isCompared' in figures[figure] && contenders.length > 1
    const value = columnOf(title, ({ medians, rounds }) => {
      const median = medians[figure]
      return median === undefined ? '' : `${formatNumber(median, digits)}${isCompared ? spreadOf(rounds, figure) : ''}`
    })
    if (!isCompared) return [value]
    const ratio = columnOf(`${title.split(/[ /]/)[0]} ×`, ({ ratios }) => ratios[figure]?.toFixed(2) ?? '')
    return [value, ratio]
  })
}

/** A number as people read it: 42,858. */
function formatNumber(value: number, digits: number): string {
  return Number(value.toFixed(digits)).toLocaleString('en-US', { minimumFractionDigits: digits })
}

/** Half the distance between the lowest and the highest round, as a percentage of the median. */
function spreadOf(rounds: readonly Round[], figure: FigureName): string {
  const values = valuesOf(rounds, figure)
  if (values.length < 2) return ''
  const percent = (50 * (Math.max(...values) - Math.min(...values))) / median(values)
  return ` ±${percent.toFixed(0)}%`
}

function valuesOf(rounds: readonly Round[], figure: FigureName): number[] {
  return rounds.flatMap((round) => round[figure] ?? [])
}

/** The figures that have a number. */
function collect(of: (figure: FigureName) => number): Round {
  return Object.fromEntries(figureNames.map((name) => [name, of(name)]).filter(([, value]) => !Number.isNaN(value)))
}
