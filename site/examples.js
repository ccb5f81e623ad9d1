// The button that fills an empty store with the example plants.

import { connect } from './api.js'
import { parseExact } from './exact-json.js'
import { byId, whileBusy } from './form.js'

const requestsAtOnce = 6

/**
 * @param onStart called before the first is sent.
 * @param onDone, onRefusal told what became of it.
 */
export function createExamples({ onStart, onDone, onRefusal }) {
  const progress = byId('examples-progress')

  byId('examples').addEventListener('click', ({ currentTarget }) => whileBusy(currentTarget, add))

  async function add() {
    onStart()
    progress.hidden = false
    try {
      const lines = (await (await fetch('site/houseplants.ndjson')).text()).trim().split('\n')
      progress.max = lines.length
      await addAll(lines)
      await onDone(`${lines.length} example plants were added.`)
    } catch (refusal) {
      onRefusal(refusal)
    } finally {
      progress.hidden = true
      progress.value = 0
    }
  }

  function addAll(lines) {
    const client = connect()
    let started = 0
    const addSome = async () => {
      while (started < lines.length) {
        const plant = parseExact(lines[started])
        started += 1
        await client.createPlant(plant).catch((refusal) => {
          // A plant that is there already is one that an earlier click has added.
          if (refusal.status !== 409) throw refusal
        })
        progress.value += 1
      }
    }
    return Promise.all(Array.from({ length: requestsAtOnce }, addSome))
  }
}
