// `plantstore check`: looks for damage in a store, and for plants that a user's document would reject.

import { parseSettings, type SettingTexts } from '../config.ts'
import { openContract } from '../contract/contract.ts'
import { AppError } from '../domain/errors.ts'
import { amount, withoutControls } from '../domain/shown.ts'
import { decodeText } from '../json/decode.ts'
import { limits } from '../limits.ts'
import { engineOf } from '../store/open.ts'
import { print, type Terminal } from '../terminal.ts'
import { commandOptions, openExisting } from './stores.ts'

/** Returns the exit status: 0 if the store is sound and its plants are valid by the document, else 1. */
export async function check(
  { store, ...texts }: Pick<SettingTexts, 'store' | 'document'>,
  terminal: Terminal,
): Promise<number> {
  const { document } = parseSettings(texts)
  const { readPlant } = await openContract(document)
  const engine = await engineOf(store)
  const { problems, plants } = await engine.check(store, commandOptions(terminal))
  const place = engine.describe(store)
  for (const problem of problems) terminal.stderr.write(`${problem}\n`)
  if (problems.length > 0) {
    await print(terminal.stdout, `${place} is damaged\n`)
    return 1
  }
  await print(terminal.stdout, `no damage was found in ${place}; it has ${amount(plants, 'plant')}\n`)
  if (document === undefined) return 0
  const refused = await findRefused(store, readPlant, terminal)
  const fit = refused === 0 ? 'all of them fit' : `${amount(refused, 'plant')} would be refused by`
  await print(terminal.stdout, `${fit} ${document}\n`)
  return refused === 0 ? 0 : 1
}

/** Prints the plants that a document would reject; returns their number. */
async function findRefused(store: string, readPlant: (value: unknown) => unknown, terminal: Terminal): Promise<number> {
  let refused = 0
  await using opened = await openExisting(store, terminal)
  for await (const batch of opened.exportPlants()) {
    for (const { id, json } of batch) {
      try {
        readPlant(decodeText(json, limits.jsonDepthMax))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        refused += 1
        terminal.stderr.write(`plant ${id}: ${withoutControls(error.message)}\n`)
      }
    }
  }
  return refused
}
