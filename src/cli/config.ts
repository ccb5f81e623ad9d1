// `plantstore config`: shows the settings that a server would use.

import { type SettingTexts, settings } from '../config.ts'
import { limits } from '../limits.ts'
import { engineOf } from '../store/open.ts'
import { print, type Terminal } from '../terminal.ts'
import { formatTable } from './table.ts'

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
  // Variables of other programs that locate the store.
  const others = engine
    .settingsOf(texts.store, terminal.environment)
    .map(([name, value]) => [`store ${name}`, value, `environment ${name}`])
  const fixed = Object.entries(withLimits === true ? limits : {}).map(([name, value]) => [
    name,
    `${value}`,
    'fixed limit',
  ])
  await print(terminal.stdout, formatTable([...rows, ...others, ...fixed]))
}
