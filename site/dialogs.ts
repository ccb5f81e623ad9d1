// The dialogs that change and delete a plant. Both send the plant's ETag, so that neither silently overwrites another
// client's change.

import { connect, statusOf, wordsOf } from './api.js'
import type { Plant, StoredPlant, Tagged } from './client.js'
import { fieldOf, find } from './find.js'
import { clearRefusal, onSubmit, say, showRefusal, toSentence, whileBusy } from './form.js'
import { quotationOf } from './plant-text.js'
import { putText, textIn } from './text-field.js'

export type DialogName = 'edit' | 'remove'

/** Opens a dialog about a plant. `button` is the button that was pressed. */
type OpenDialog = (plant: StoredPlant, button: HTMLButtonElement) => Promise<void>

interface DialogOptions {
  /** Called before a dialog opens. */
  readonly onStart: () => void
  /** Receives the id, the dialog's name and a sentence about the outcome. */
  readonly onDone: (id: bigint, dialog: DialogName, sentence: string) => Promise<void>
  /** Receives a refusal that no dialog shows. */
  readonly onRefusal: (refusal: unknown) => void
}

/** The behaviour of one dialog. */
interface Action {
  readonly show: (plant: StoredPlant, form: HTMLFormElement) => void
  /** @param state the plant as last read; its ETag accompanies the change. */
  readonly change: (form: HTMLFormElement, plant: StoredPlant, state: Tagged<StoredPlant>) => Promise<unknown>
  readonly done: (plant: StoredPlant) => string
  /** What to do after another client changed the plant. */
  readonly again: string
}

/** The plant of a dialog, as first shown and as last read. */
interface Opened {
  readonly shown: StoredPlant
  state: Tagged<StoredPlant>
}

export interface Dialogs extends Readonly<Record<DialogName, OpenDialog>> {
  /** Tells the reader of an open dialog that its plant has changed. */
  noteChanges(ids: readonly bigint[]): void
}

export function createDialogs(options: DialogOptions): Dialogs {
  const [first, second] = [createDialog('edit', edit, options), createDialog('remove', remove, options)]
  return {
    edit: first.open,
    remove: second.open,
    noteChanges: (ids) => {
      for (const { noteChanges } of [first, second]) noteChanges(ids)
    },
  }
}

const edit: Action = {
  show: ({ id, name, tag }, form) => {
    find('#edit-title').textContent = `Plant ${id}`
    putText(form, 'name', name)
    putText(form, 'tag', tag ?? '')
    fieldOf(form, 'tag').placeholder = tag === '' ? '(empty)' : ''
  },
  change: (form, { id, tag }, state) => {
    const name = textIn(form, 'name')
    const typed = textIn(form, 'tag')
    const now = typed === (tag ?? '') ? tag : typed || undefined
    return connect().replacePlant(id, { name, ...(now !== undefined && { tag: now }) }, { ifMatch: state })
  },
  done: ({ id }) => `Plant ${id} was changed.`,
  again: 'Press Save again to overwrite it.',
}

const remove: Action = {
  show: ({ id, name }) => {
    find('#remove-title').textContent = `Delete plant ${id}?`
    find('#remove-text').replaceChildren(
      ...(name === '' ? ['Its name is empty. It'] : quotationOf(name)),
      ' will be gone for good.',
    )
  },
  change: (_form, { id }, state) => connect().deletePlant(id, { ifMatch: state }),
  done: ({ id }) => `Plant ${id} was deleted.`,
  again: 'Press Delete again to delete it anyway.',
}

function createDialog(
  name: DialogName,
  { show, change, done, again }: Action,
  { onStart, onDone, onRefusal }: DialogOptions,
): { readonly open: OpenDialog; readonly noteChanges: (ids: readonly bigint[]) => void } {
  const dialog = find(`#${name}`, HTMLDialogElement)
  const form = find('form', HTMLFormElement, dialog)
  const error = find(`#${name}-error`)
  let opened: Opened | undefined
  let isSaving = false

  find('[data-cancel]', HTMLButtonElement, dialog).addEventListener('click', () => dialog.close())
  onSubmit(form, save)

  async function save(): Promise<void> {
    clearRefusal(form, error)
    const mine = opened
    if (mine === undefined) return
    // The dialog may have been closed and reopened for another plant in the meantime.
    const isOpen = (): boolean => dialog.open && opened === mine
    isSaving = true
    try {
      await change(form, mine.shown, mine.state)
    } catch (refusal) {
      if (!isOpen()) onRefusal(refusal)
      else if (statusOf(refusal) === 412) await explainChange(mine, isOpen)
      else showRefusal(form, wordsOf(refusal), error)
      return
    } finally {
      isSaving = false
    }
    if (isOpen()) dialog.close()
    void onDone(mine.shown.id, name, done(mine.shown))
  }

  /** Keeps the typed text and shows the plant's current state, which the next attempt applies to. */
  async function explainChange(mine: Opened, isOpen: () => boolean): Promise<void> {
    try {
      const plant = await connect().getPlant(mine.shown.id)
      if (!isOpen()) return
      mine.state = plant
      error.replaceChildren('Another client has changed this plant: ', ...describe(plant), ` ${again}`)
    } catch (refusal) {
      const isGone = statusOf(refusal) === 404
      if (isOpen()) say(error, isGone ? 'Another client has deleted this plant.' : toSentence(wordsOf(refusal)))
    }
  }

  async function open({ id }: StoredPlant, button: HTMLButtonElement): Promise<void> {
    onStart()
    try {
      const plant = await whileBusy(button, () => connect().getPlant(id))
      if (plant === undefined || document.querySelector('dialog[open]') !== null) return
      opened = { shown: plant, state: plant }
      clearRefusal(form, error)
      show(plant, form)
      dialog.showModal()
    } catch (refusal) {
      onRefusal(refusal)
    }
  }

  function noteChanges(ids: readonly bigint[]): void {
    const mine = opened
    if (!dialog.open || mine === undefined || isSaving || !ids.includes(mine.shown.id)) return
    void explainChange(mine, () => dialog.open && opened === mine)
  }

  return { open, noteChanges }
}

/** The end of a sentence that describes a plant's current state. */
function describe({ name, tag }: Plant): (Node | string)[] {
  return [
    ...(name === '' ? ['its name is now empty'] : ['it is now ', ...quotationOf(name)]),
    ', with ',
    ...(tag ? ['the tag ', ...quotationOf(tag)] : [tag === undefined ? 'no tag' : 'an empty tag']),
    '.',
  ]
}
