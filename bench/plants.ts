// Makes millions of plants, the same ones each time, as files and in stores.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type BenchStore, runCli } from './process.ts'

export const plantsMany = 1_000_000

/** 1, 2, 3, ... */
export const sequence = (index: bigint): bigint => index + 1n

/** Ids from all of int64, in no order. An odd multiplier visits every id once. */
export const spread = (index: bigint): bigint => BigInt.asIntN(64, index * 0x9e3779b97f4a7c15n)

/** Writes a file of plants, one line of `format` each. */
export async function writePlants(
  file: string,
  format: (id: bigint, name: string, tag: string) => string,
  { plants = plantsMany, idOf = spread } = {},
): Promise<void> {
  const output = createWriteStream(file)
  let text = ''
  for (let index = 0n; index < plants; index += 1n) {
    text += format(idOf(index), `Monstera deliciosa ${index % 1000n}`, `tag${index % 50n}`)
    if (text.length < 1 << 20) continue
    if (!output.write(text)) await once(output, 'drain')
    text = ''
  }
  output.end(text)
  await once(output, 'close')
}

export const plantLine = (id: bigint, name: string, tag: string): string =>
  `{"id":${id},"name":"${name}","tag":"${tag}"}\n`

/** Imports plants into a store. */
export async function fillStore(
  store: BenchStore,
  options: { readonly plants?: number; readonly idOf?: (index: bigint) => bigint } = {},
): Promise<void> {
  const file = store.file('plants.ndjson')
  await writePlants(file, plantLine, options)
  runCli(['import', file, '--store', store.path])
  await rm(file)
}
