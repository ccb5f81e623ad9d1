// The button that fills an empty store with the example plants.

import { connect, statusOf } from './api.js'
import type { NewPlant } from './client.js'
import { parseExact } from './exact-json.js'
import { find } from './find.js'
import { whileBusy } from './form.js'

interface ExamplesOptions {
  /** Called before the first plant is sent. */
  readonly onStart: () => void
  /** Receives a sentence about the outcome. */
  readonly onDone: (sentence: string) => Promise<void>
  readonly onRefusal: (refusal: unknown) => void
}

const requestsAtOnce = 6

export function createExamples({ onStart, onDone, onRefusal }: ExamplesOptions): void {
  const button = find('#examples', HTMLButtonElement)
  const progress = find('#examples-progress', HTMLProgressElement)

  button.addEventListener('click', () => whileBusy(button, add))

  async function add(): Promise<void> {
    onStart()
    progress.hidden = false
    try {
      const lines = (await (await fetch('site/houseplants.ndjson')).text()).trim().split('\n')
      progress.max = lines.length
      await addAll(lines.map(toPlant))
      await onDone(`${lines.length} example plants were added.`)
    } catch (refusal) {
      onRefusal(refusal)
    } finally {
      progress.hidden = true
      progress.value = 0
    }
  }

  async function addAll(plants: readonly NewPlant[]): Promise<void> {
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
        progress.value += 1
      }
    }
    await Promise.all(Array.from({ length: requestsAtOnce }, addSome))
  }
}

function toPlant(line: string): NewPlant {
  const value = parseExact(line)
  if (isNewPlant(value)) return value
  throw new TypeError(`not a plant: ${line}`)
}

function isNewPlant(value: unknown): value is NewPlant {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('name' in value)) return false
  const isId = typeof value.id === 'bigint' || typeof value.id === 'number'
  return isId && typeof value.name === 'string' && (!('tag' in value) || typeof value.tag === 'string')
}
