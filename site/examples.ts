// Fills an empty store with the example plants.

import type { NewPlant } from './client.js'
import { find } from './elements.js'
import { parseExact } from './exact-json.js'
import { addAll, type Tally } from './many.js'
import { explain, hush } from './messages.js'
import { ownOf, plantOf, properties } from './properties.js'
import { sampleOf } from './sample.js'

/**
 * Adds the example plants to the store. Those that an earlier click added count, too.
 *
 * @param onDone receives a sentence about the outcome.
 */
export async function addExamples(onDone: (sentence: string) => Promise<void>): Promise<void> {
  const progress = find('#examples-progress', HTMLProgressElement)
  hush()
  progress.hidden = false
  try {
    const lines = (await (await fetch('site/houseplants.ndjson')).text()).trim().split('\n')
    progress.max = lines.length
    const rows = lines.map((raw, at) => ({ line: at + 1, raw, plant: toPlant(raw) }))
    const tally: Tally = { added: 0, known: 0, refused: [] }
    await addAll(rows, tally, new AbortController().signal, () => {
      progress.value += 1
    })
    const [first] = tally.refused
    const others = first === undefined ? '' : ` Others were rejected: ${first.wrong}.`
    await onDone(`${tally.added + tally.known} example plants were added.${others}`)
  } catch (refusal) {
    explain(refusal, '#create-error')
  } finally {
    progress.hidden = true
    progress.value = 0
  }
}

/** The example of a line, with samples of whatever else the document requires. */
function toPlant(line: string): NewPlant & { readonly id: bigint } {
  const example = parseExact(line) as NewPlant
  const values = properties.map(({ name, isRequired, schema }) => {
    const value = ownOf(example, name)
    return [name, value === undefined && isRequired ? sampleOf(schema) : value] as const
  })
  return { ...plantOf(values), id: BigInt(example.id) }
}
