// The dialogs that change and delete a plant. Both say which state of the plant they are about, by its ETag, so that
// nobody undoes what somebody else has done meanwhile.

import { plantJson, plantPath, send } from './api.js'
import { byId, clearRefusal, isFilledIn, showRefusal, toSentence, whileBusy } from './form.js'

/** @param onDone told the id, the name of the dialog and, in a sentence, what was done. */
export function createDialogs({ onDone, onRefusal }) {
  const edit = createDialog('edit', {
    show: ({ id, name, tag = '' }, form) => {
      byId('edit-title').textContent = `Plant ${id}`
      form.elements.namedItem('name').value = name
      form.elements.namedItem('tag').value = tag
    },
    request: (form) => ({
      method: 'PUT',
      body: plantJson({ name: form.elements.namedItem('name').value, tag: form.elements.namedItem('tag').value }),
    }),
    done: ({ id }) => `Plant ${id} was changed.`,
    again: 'Press Save again to overwrite it.',
  })
  const remove = createDialog('remove', {
    show: ({ id, name }) => {
      byId('remove-title').textContent = `Delete plant ${id}?`
      byId('remove-text').textContent = `“${name}” will be gone for good.`
    },
    request: () => ({ method: 'DELETE' }),
    done: ({ id }) => `Plant ${id} was deleted.`,
    again: 'Press Delete again to delete it all the same.',
  })

  function createDialog(name, { show, request, done, again }) {
    const dialog = byId(name)
    const form = dialog.querySelector('form')
    const error = byId(`${name}-error`)
    let plant
    let etag

    dialog.querySelector('[data-cancel]').addEventListener('click', () => dialog.close())
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void whileBusy(form, save)
    })

    async function save() {
      clearRefusal(form, error)
      if (!isFilledIn(form)) return
      try {
        await send({ path: plantPath(plant.id), headers: { 'If-Match': etag }, ...request(form) })
      } catch (refusal) {
        if (refusal.status === 412) await explainChange()
        else showRefusal(form, refusal.message, error)
        return
      }
      dialog.close()
      await onDone(plant.id, name, done(plant))
    }

    /** What was typed stays; what the plant is now is told, and the next try is about that. */
    async function explainChange() {
      try {
        await read(plant.id)
        const tag = plant.tag === undefined ? 'no tag' : `the tag “${plant.tag}”`
        error.textContent = `Another client has changed this plant: it is now “${plant.name}”, with ${tag}. ${again}`
      } catch (refusal) {
        error.textContent =
          refusal.status === 404 ? 'Another client has deleted this plant.' : toSentence(refusal.message)
      }
    }

    async function read(id) {
      const { body, headers } = await send({ path: plantPath(id) })
      plant = body
      etag = headers.get('etag')
    }

    return async ({ id }) => {
      clearRefusal(form, error)
      try {
        await read(id)
        show(plant, form)
        dialog.showModal()
      } catch (refusal) {
        onRefusal(refusal)
      }
    }
  }

  return { edit, remove }
}
