// Counts, sizes and durations that are noted by adding to a number. prom-client would look up the labels of a value each
// time, which costs a tenth of a request; it gets the numbers when they are read.

import type { Metric } from 'prom-client'

/** What Prometheus is told of a metric. */
export interface Description {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
}

export interface Value {
  readonly value: number
  readonly labels?: Readonly<Record<string, string | number>>
  /** Where it is not the name of the metric. */
  readonly metricName?: string
}

/** A metric for a registry of prom-client that is computed when it is read. */
export function metricOf(description: Description, read: () => readonly Value[]): Metric<string> {
  const metric = { name: description.name, get: async () => ({ ...description, aggregator: 'sum', values: read() }) }
  return metric as unknown as Metric<string>
}

/** Counts by the values of up to two labels. */
export class Counts {
  readonly #labels: readonly [string, string?]
  readonly #counts = new Map<string, Map<string | number, number>>()

  constructor(...labels: readonly [string, string?]) {
    this.#labels = labels
  }

  /** Has a series from the start on, so that its first count is an increase. */
  begin(first: string): void {
    this.#counts.set(first, new Map([['', 0]]))
  }

  add(first: string, second: string | number = ''): void {
    const counts = this.#counts.get(first) ?? new Map<string | number, number>()
    if (counts.size === 0) this.#counts.set(first, counts)
    counts.set(second, (counts.get(second) ?? 0) + 1)
  }

  read(): readonly Value[] {
    const [firstName, secondName] = this.#labels
    return [...this.#counts].flatMap(([first, counts]) =>
      [...counts].map(([second, value]) => ({
        labels: { [firstName]: first, ...(secondName !== undefined && { [secondName]: second }) },
        value,
      })),
    )
  }
}

interface Series {
  /** How many values each bucket has that none before it has; the last one is for those past all bounds. */
  readonly counts: Float64Array
  sum: number
}

/** Values by bucket, and by the value of one label if there is one. */
export class Histogram {
  readonly #name: string
  readonly #bounds: readonly number[]
  readonly #label: string | undefined
  readonly #series = new Map<string, Series>()

  /** @param bounds the upper bounds of the buckets, in ascending order. */
  constructor(name: string, bounds: readonly number[], label?: string) {
    this.#name = name
    this.#bounds = bounds
    this.#label = label
    if (label === undefined) this.#begin('')
  }

  note(value: number, labelled = ''): void {
    const series = this.#series.get(labelled) ?? this.#begin(labelled)
    let bucket = 0
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] as number) + 1
    series.sum += value
  }

  read(): readonly Value[] {
    return [...this.#series].flatMap(([labelled, { counts, sum }]) => {
      const labels = this.#label === undefined ? {} : { [this.#label]: labelled }
      let count = 0
      const buckets = [...counts].map((some, index): Value => {
        count += some
        const le = this.#bounds[index] ?? '+Inf'
        return { metricName: `${this.#name}_bucket`, labels: { ...labels, le }, value: count }
      })
      const total = { metricName: `${this.#name}_count`, labels, value: count }
      return [...buckets, { metricName: `${this.#name}_sum`, labels, value: sum }, total]
    })
  }

  #begin(labelled: string): Series {
    const series = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 }
    this.#series.set(labelled, series)
    return series
  }
}
