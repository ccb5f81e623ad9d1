// Settings of a server as flags have them.

import { type ServeConfig, setting } from '../../src/config.ts'

export type SettingTexts = { readonly [Name in keyof ServeConfig]?: string }

/** The values of settings. */
export function parseSettings(texts: SettingTexts): Partial<ServeConfig> {
  const entries = Object.entries(texts) as [keyof ServeConfig, string][]
  return Object.fromEntries(entries.map(([name, text]) => [name, setting(name).parse(text)]))
}
