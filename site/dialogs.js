// The dialogs that change and delete a plant. Both say which state of the plant they are about, by its ETag, so that
// nobody undoes what somebody else has done meanwhile.

import { plantJson, plantPath, send } from './api.js'
import { byId, clearRefusal, showRefusal, whileBusy } from './form.js'

/** @param onDone told in a sentence what was done. */
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
  })
  const remove = createDialog('remove', {
    show: ({ id, name }) => {
      byId('remove-title').textContent = `Delete plant ${id}?`
      byId('remove-text').textContent = `${name} will be gone for good.`
    },
    request: () => ({ method: 'DELETE' }),
    done: ({ id }) => `Plant ${id} was deleted.`,
  })

  function createDialog(name, { show, request, done }) {
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
      try {
        await send({ path: plantPath(plant.id), headers: { 'If-Match': etag }, ...request(form) })
        dialog.close()
        onDone(done(plant))
      } catch (refusal) {
        if (refusal.status === 412) await explainChange()
        else showRefusal(form, refusal.message, error)
      }
    }

    /** What was typed stays; what the plant is now is told, and the next try is about that. */
    async function explainChange() {
      try {
        await read(plant.id)
        const tag = plant.tag === undefined ? 'no tag' : `the tag ${plant.tag}`
        error.textContent =
          `Another client has changed this plant: it is now ${plant.name}, with ${tag}. ` +
          'Press the button again to continue anyway.'
      } catch (refusal) {
        error.textContent = refusal.status === 404 ? 'Another client has deleted this plant.' : refusal.message
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
