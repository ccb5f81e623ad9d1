// Draws the results of benches with Vega-Lite, as SVG files for docs/benchmarks.md.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { installPackages } from './installed.ts'
import { here } from './process.ts'
import type { Comparison, FigureName, Results } from './results.ts'

/** One value of one contender in one comparison. */
type Point = Readonly<Record<string, string | number>>

interface Axes {
  readonly bench: string
  readonly title: string
  readonly x: 'connections' | 'plants'
  readonly y: FigureName
  /** Includes the unit. */
  readonly yTitle: string
  readonly isLogarithmic?: boolean
}

const lines: Readonly<Record<string, Axes>> = {
  'throughput-by-connections': {
    ...{ bench: 'connections', x: 'connections', y: 'perSecond' },
    title: 'As many requests as each can take',
    yTitle: 'requests a second',
  },
  'p99-by-connections': {
    ...{ bench: 'connections', x: 'connections', y: 'p99Ms', isLogarithmic: true },
    title: 'The slowest hundredth of the answers, when each takes as many requests as it can',
    yTitle: 'p99 in milliseconds (logarithmic)',
  },
  'cpu-by-size': {
    ...{ bench: 'size', x: 'plants', y: 'cpuMicroseconds' },
    title: 'What a request costs as the store grows',
    yTitle: 'CPU time of a request in microseconds',
  },
}

/** Titles of comparisons of the bench `contenders`, by the name of the plot. */
const bars: Readonly<Record<string, string>> = {
  'contenders-post': 'POST of a plant',
  'contenders-get': 'GET of one plant',
}

/** The opaque background keeps the plots legible on light and dark pages. */
const common = {
  background: 'white',
  padding: 12,
  config: {
    font: 'system-ui, sans-serif',
    title: { anchor: 'start', fontSize: 15, offset: 14 },
    axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 'normal', titlePadding: 10 },
    legend: { labelFontSize: 12, labelLimit: 0, title: null, symbolStrokeWidth: 2 },
    // The colour-blind safe palette of Okabe and Ito.
    range: { category: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00'] },
    view: { stroke: null },
  },
}

/** Draws all plots of the results. */
export async function drawPlots(results: Results): Promise<void> {
  await installPackages('plots')
  for (const [name, axes] of Object.entries(lines)) {
    const { comparisons = [] } = results[axes.bench] ?? {}
    if (comparisons.length > 0) await draw(name, lineChart(axes, comparisons))
  }
  for (const [name, title] of Object.entries(bars)) {
    const comparison = results['contenders']?.comparisons.find((each) => each.title === title)
    if (comparison !== undefined) await draw(name, barChart(comparison))
  }
}

async function draw(name: string, chart: object): Promise<void> {
  const child = spawn(process.execPath, [here('plots/node_modules/vega-lite/bin/vl2svg')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify({ $schema: 'https://vega.github.io/schema/vega-lite/v6.json', ...common, ...chart }))
  const [svg, [status]] = await Promise.all([child.stdout.toArray(), once(child, 'close')])
  if (status !== 0) throw new Error(`Vega-Lite ended with ${status} for ${name}`)
  await writeFile(here(`../docs/benchmarks/${name}.svg`), `${svg.join('')}\n`)
}

function lineChart({ title, x, y, yTitle, isLogarithmic }: Axes, comparisons: readonly Comparison[]): object {
  const values = comparisons.flatMap((comparison) =>
    comparison.contenders.map(({ name, medians }): Point => ({ name, x: comparison[x] ?? 0, y: medians[y] ?? 0 })),
  )
  const names = comparisons.at(-1)?.contenders.map(({ name }) => name)
  return {
    title,
    width: 560,
    height: 300,
    data: { values },
    mark: { type: 'line', point: { size: 50 }, strokeWidth: 2 },
    encoding: {
      // Ordinal, because the numbers are too far apart for a scale and can be 0.
      x: {
        ...{ field: 'x', type: 'ordinal', title: x === 'plants' ? 'plants in the store' : 'connections' },
        axis: { labelAngle: 0, labelExpr: "format(datum.value, ',')" },
      },
      y: {
        ...{ field: 'y', type: 'quantitative', title: yTitle, axis: { format: ',~f' } },
        scale: { type: isLogarithmic === true ? 'log' : 'linear' },
      },
      color: { field: 'name', type: 'nominal', sort: names },
      shape: { field: 'name', type: 'nominal', sort: names },
    },
  }
}

function barChart({ title, contenders }: Comparison): object {
  const values = contenders
    .map(({ name, medians: { perSecond = 0 } }) => ({ name, y: perSecond }))
    .sort((a, b) => b.y - a.y)
  const y = { field: 'name', type: 'nominal', title: null, sort: null }
  const x = { field: 'y', type: 'quantitative', title: 'requests a second', axis: { format: ',~f', tickCount: 6 } }
  const isOwn = "datum.name === 'Plant Store'"
  return {
    title: `${title}, as many as each can take`,
    width: 520,
    height: { step: 30 },
    data: { values },
    encoding: { x, y },
    layer: [
      { mark: 'bar', encoding: { color: { condition: { test: isOwn, value: '#009e73' }, value: '#9db7c9' } } },
      {
        mark: { type: 'text', align: 'left', dx: 5, fontSize: 12 },
        encoding: { text: { field: 'y', type: 'quantitative', format: ',.0f' } },
      },
    ],
  }
}
