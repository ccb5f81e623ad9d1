// Fills an empty store with the example plants.

import { connect, statusOf } from './api.js'
import type { NewPlant } from './client.js'
import { parseExact } from './exact-json.js'
import { find } from './find.js'
import { ownOf, plantOf, properties } from './properties.js'
import { sampleOf } from './sample.js'

interface ExamplesOptions {
  /** Called before the first plant is sent. */
  readonly onStart: () => void
  /** Receives a sentence about the outcome. */
  readonly onDone: (sentence: string) => Promise<void>
  readonly onRefusal: (refusal: unknown) => void
}

const requestsAtOnce = 6

/** Adds the example plants to the store. */
export async function addExamples({ onStart, onDone, onRefusal }: ExamplesOptions): Promise<void> {
  const progress = find('#examples-progress', HTMLProgressElement)
  onStart()
  progress.hidden = false
  try {
    const lines = (await (await fetch('site/houseplants.ndjson')).text()).trim().split('\n')
    progress.max = lines.length
    await addAll(lines.map(toPlant), () => {
      progress.value += 1
    })
    await onDone(`${lines.length} example plants were added.`)
  } catch (refusal) {
    onRefusal(refusal)
  } finally {
    progress.hidden = true
    progress.value = 0
  }
}

async function addAll(plants: readonly NewPlant[], onAdded: () => void): Promise<void> {
  const client = connect()
  // The workers share this iterator; each takes the next remaining plant.
  const left = plants.values()
  let hasFailed = false
  const addSome = async (): Promise<void> => {
    for (const plant of left) {
      await client.createPlant(plant).catch((refusal: unknown) => {
        // On 409, an earlier click already added this plant.
        if (statusOf(refusal) === 409) return
        hasFailed = true
        throw refusal
      })
      // The failure is shown already.
      if (hasFailed) return
      onAdded()
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, addSome))
}

/** The example of a line, with samples of whatever else the document requires. */
function toPlant(line: string): NewPlant {
  const example = parseExact(line) as NewPlant
  const values = properties.map(({ name, isRequired, schema }) => {
    const value = ownOf(example, name)
    return [name, value === undefined && isRequired ? sampleOf(schema) : value] as const
  })
  return { ...plantOf(values), id: example.id }
}
