// `plantstore config`: what a server would run with.

import { limits, type ServeConfig, settings } from '../config.ts'
import { describePlace } from '../store/open.ts'
import type { Terminal } from './terminal.ts'

/** @param sourceOf where the value of a setting comes from, in commander's words. */
export function showConfig(
  config: ServeConfig,
  sourceOf: (name: string) => string | undefined,
  terminal: Terminal,
): void {
  const rows = settings.map(({ name, environment, flag }) => {
    const source = sourceOf(name)
    const from =
      source === 'cli' ? `flag ${flag.split(' ')[0]}` : source === 'env' ? `environment ${environment}` : 'default'
    return [name, name === 'store' ? describePlace(config.store) : String(config[name]), from]
  })
  const fixed = Object.entries(limits).map(([name, value]) => [name, String(value), 'fixed limit'])
  const all = [...rows, ...fixed]
  const width = (column: number): number => Math.max(...all.map((row) => row[column]?.length ?? 0))
  for (const [name = '', value = '', from = ''] of all) {
    terminal.stdout.write(`${name.padEnd(width(0))}  ${value.padEnd(width(1))}  ${from}\n`)
  }
}
