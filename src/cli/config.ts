// `plantstore config`: shows the settings that a server would use.

import { type SettingTexts, settings } from '../config.ts'
import { limits } from '../limits.ts'
import { engineOf } from '../store/open.ts'
import { print, type Terminal } from '../terminal.ts'

/**
 * @param sourceOf the source of a setting's value, in commander's terms.
 * @param options whether to show the limits, too.
 */
export async function showConfig(
  texts: SettingTexts,
  sourceOf: (name: string) => string | undefined,
  { limits: withLimits }: { readonly limits?: true },
  terminal: Terminal,
): Promise<void> {
  const engine = await engineOf(texts.store)
  const rows = settings.map(({ name, environment, flag }) => {
    const source = sourceOf(name)
    const from =
      source === 'cli' ? `flag ${flag.split(' ')[0]}` : source === 'env' ? `environment ${environment}` : 'default'
    return [name, name === 'store' ? engine.describe(texts.store) : texts[name], from]
  })
  const fixed = Object.entries(withLimits === true ? limits : {}).map(([name, value]) => [
    name,
    String(value),
    'fixed limit',
  ])
  // Variables of other programs that locate the store.
  const others = engine
    .settingsOf(texts.store, terminal.environment)
    .map(([name, value]) => [`store ${name}`, value, `environment ${name}`])
  const all = [...rows, ...others, ...fixed]
  const width = (column: number): number => Math.max(...all.map((row) => row[column]?.length ?? 0))
  const lines = all.map(
    ([name = '', value = '', from = '']) => `${name.padEnd(width(0))}  ${value.padEnd(width(1))}  ${from}\n`,
  )
  await print(terminal.stdout, lines.join(''))
}
