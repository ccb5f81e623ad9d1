// The dialogs that change and delete a plant. Both say which state of the plant they are about, by its ETag, so that
// nobody undoes what somebody else has done meanwhile.

import { connect, plantOf, wordsOf } from './api.js'
import { byId, clearRefusal, isFilledIn, showRefusal, toSentence, whileBusy } from './form.js'

/** @param onDone told the id, the name of the dialog and, in a sentence, what was done. */
export function createDialogs({ onDone, onRefusal }) {
  const edit = createDialog('edit', {
    show: ({ id, name, tag = '' }, form) => {
      byId('edit-title').textContent = `Plant ${id}`
      form.elements.namedItem('name').value = name
      form.elements.namedItem('tag').value = tag
    },
    change: (form, plant) => {
      const [name, tag] = ['name', 'tag'].map((field) => form.elements.namedItem(field).value)
      return connect().replacePlant(plant.id, plantOf({ name, tag }), { ifMatch: plant })
    },
    done: ({ id }) => `Plant ${id} was changed.`,
    again: 'Press Save again to overwrite it.',
  })
  const remove = createDialog('remove', {
    show: ({ id, name }) => {
      byId('remove-title').textContent = `Delete plant ${id}?`
      byId('remove-text').textContent = `“${name}” will be gone for good.`
    },
    change: (_form, plant) => connect().deletePlant(plant.id, { ifMatch: plant }),
    done: ({ id }) => `Plant ${id} was deleted.`,
    again: 'Press Delete again to delete it all the same.',
  })

  function createDialog(name, { show, change, done, again }) {
    const dialog = byId(name)
    const form = dialog.querySelector('form')
    const error = byId(`${name}-error`)
    /** As it was read last, with its ETag. */
    let plant

    dialog.querySelector('[data-cancel]').addEventListener('click', () => dialog.close())
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void whileBusy(form, save)
    })

    async function save() {
      clearRefusal(form, error)
      if (!isFilledIn(form)) return
      try {
        await change(form, plant)
      } catch (refusal) {
        if (refusal.status === 412) await explainChange()
        else showRefusal(form, wordsOf(refusal), error)
        return
      }
      dialog.close()
      await onDone(plant.id, name, done(plant))
    }

    /** What was typed stays; what the plant is now is told, and the next try is about that. */
    async function explainChange() {
      try {
        plant = await connect().getPlant(plant.id)
        const tag = plant.tag === undefined ? 'no tag' : `the tag “${plant.tag}”`
        error.textContent = `Another client has changed this plant: it is now “${plant.name}”, with ${tag}. ${again}`
      } catch (refusal) {
        error.textContent =
          refusal.status === 404 ? 'Another client has deleted this plant.' : toSentence(wordsOf(refusal))
      }
    }

    return async ({ id }) => {
      clearRefusal(form, error)
      try {
        plant = await connect().getPlant(id)
        show(plant, form)
        dialog.showModal()
      } catch (refusal) {
        onRefusal(refusal)
      }
    }
  }

  return { edit, remove }
}
