// `plantstore config`: shows the settings that a server would use.

import type { Command } from 'commander'
import { type SettingTexts, settings } from '../config.ts'
import { limits } from '../limits.ts'
import { engineOf } from '../store/open.ts'
import { print, type Terminal } from '../terminal.ts'
import { formatTable } from './output.ts'

export async function showConfig(
  texts: SettingTexts & { readonly limits?: true },
  terminal: Terminal,
  command: Command,
): Promise<void> {
  const engine = await engineOf(texts.store)
  const rows = Object.values(settings).map(({ name, environment, flag }) => {
    const source = command.getOptionValueSource(name)
    const from =
      source === 'cli' ? `flag ${flag.split(' ')[0]}` : source === 'env' ? `environment ${environment}` : 'default'
    return [name, name === 'store' ? engine.describe(texts.store) : texts[name], from]
  })
  // Variables of other programs, such as PGHOST, that locate the store.
  const others = engine
    .settingsOf(texts.store, terminal.environment)
    .map(([name, value]) => [`store ${name}`, value, `environment ${name}`])
  const fixed = Object.entries(limits).map(([name, value]) => [name, String(value), 'fixed limit'])
  await print(terminal.stdout, formatTable([...rows, ...others, ...(texts.limits === true ? fixed : [])]))
}
