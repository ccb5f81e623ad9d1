// The dialogs that change and delete a plant. Both say which state of the plant they are about, by its ETag, so that
// no change of another client is undone unseen.

import { connect, wordsOf } from './api.js'
import { byId, clearRefusal, onSubmit, say, showRefusal, toSentence, whileBusy } from './form.js'
import { quotationOf } from './plant-text.js'
import { putText, textIn } from './text-field.js'

/**
 * @param onStart called before a dialog opens.
 * @param onDone told the id, the name of the dialog and, in a sentence, what was done.
 * @param onRefusal told of a refusal that no dialog shows.
 */
export function createDialogs({ onStart, onDone, onRefusal }) {
  const edit = createDialog('edit', {
    show: ({ id, name, tag }, form) => {
      byId('edit-title').textContent = `Plant ${id}`
      putText(form, 'name', name)
      putText(form, 'tag', tag ?? '')
      form.elements.namedItem('tag').placeholder = tag === '' ? '(empty)' : ''
    },
    change: (form, { id, tag }, state) => {
      const typed = textIn(form, 'tag')
      const now = typed === (tag ?? '') ? tag : typed || undefined
      return connect().replacePlant(id, { name: textIn(form, 'name'), tag: now }, { ifMatch: state })
    },
    done: ({ id }) => `Plant ${id} was changed.`,
    again: 'Press Save again to overwrite it.',
  })
  const remove = createDialog('remove', {
    show: ({ id, name }) => {
      byId('remove-title').textContent = `Delete plant ${id}?`
      byId('remove-text').replaceChildren(
        ...(name === '' ? ['Its name is empty. It'] : quotationOf(name)),
        ' will be gone for good.',
      )
    },
    change: (_form, { id }, state) => connect().deletePlant(id, { ifMatch: state }),
    done: ({ id }) => `Plant ${id} was deleted.`,
    again: 'Press Delete again to delete it all the same.',
  })

  function createDialog(name, { show, change, done, again }) {
    const dialog = byId(name)
    const form = dialog.querySelector('form')
    const error = byId(`${name}-error`)
    /** The plant as the dialog showed it when it opened. */
    let shown
    /** The plant as it was read last, whose ETag goes with a change. */
    let state

    dialog.querySelector('[data-cancel]').addEventListener('click', () => dialog.close())
    onSubmit(form, save)

    async function save() {
      clearRefusal(form, error)
      const mine = shown
      // The person may have closed the dialog meanwhile, and opened it for another plant.
      const isOpen = () => dialog.open && shown === mine
      try {
        await change(form, mine, state)
      } catch (refusal) {
        if (!isOpen()) onRefusal(refusal)
        else if (refusal.status === 412) await explainChange(isOpen)
        else showRefusal(form, wordsOf(refusal), error)
        return
      }
      if (isOpen()) dialog.close()
      void onDone(mine.id, name, done(mine))
    }

    /** What was typed stays; what the plant is now is told, and the next try is about that. */
    async function explainChange(isOpen) {
      try {
        const plant = await connect().getPlant(shown.id)
        if (!isOpen()) return
        state = plant
        error.replaceChildren('Another client has changed this plant: ', ...describe(plant), ` ${again}`)
      } catch (refusal) {
        const isGone = refusal.status === 404
        if (isOpen()) say(error, isGone ? 'Another client has deleted this plant.' : toSentence(wordsOf(refusal)))
      }
    }

    /** @param button the one that was pressed. */
    return async ({ id }, button) => {
      onStart()
      try {
        const plant = await whileBusy(button, () => connect().getPlant(id))
        if (document.querySelector('dialog[open]') !== null) return
        shown = plant
        state = plant
        clearRefusal(form, error)
        show(plant, form)
        dialog.showModal()
      } catch (refusal) {
        onRefusal(refusal)
      }
    }
  }

  return { edit, remove }
}

/** The end of a sentence that says what a plant is now. */
function describe({ name, tag }) {
  return [
    ...(name === '' ? ['its name is now empty'] : ['it is now ', ...quotationOf(name)]),
    ', with ',
    ...(tag ? ['the tag ', ...quotationOf(tag)] : [tag === undefined ? 'no tag' : 'an empty tag']),
    '.',
  ]
}
