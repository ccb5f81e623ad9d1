// The dialogs that change and delete a plant. Both send the plant's ETag, so that neither silently overwrites another
// client's change.

import { connect, statusOf, wordsOf } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { showDifferences, sideBySide } from './conflict.js'
import { makeFields, plantIn, putPlant } from './fields.js'
import { find } from './find.js'
import { clearRefusal, isFilledIn, onSubmit, say, showRefusal, toSentence, whileBusy } from './form.js'
import { make } from './make.js'
import { boxed, shown } from './plant-text.js'
import { type Values, withoutId } from './properties.js'
import { showMarks } from './text-field.js'

export type DialogName = 'edit' | 'remove'

/** Opens a dialog about a plant. `button` is the button that was pressed. */
type OpenDialog = (plant: Pick<StoredPlant, 'id'>, button: HTMLButtonElement) => Promise<void>

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
  /** @param state the version that may be changed. */
  readonly change: (form: HTMLFormElement, plant: StoredPlant, state: Tagged<StoredPlant>) => Promise<unknown>
  readonly done: (plant: StoredPlant) => string
  /** The button's text, and after another client changed the plant. */
  readonly cancel: readonly [string, string]
  /** What the person has, to compare with what another client made of the plant. */
  readonly mine: (form: HTMLFormElement, plant: StoredPlant) => Values
  readonly titles: readonly [string, string]
}

/** The plant of a dialog. */
interface Opened {
  /** As first shown: the form changes this version alone. */
  readonly shown: Tagged<StoredPlant>
  /** Another client's version, if it is shown beside the form. */
  theirs?: Tagged<StoredPlant> | undefined
}

/** How long a version is shown before it can be overwritten: an earlier press was meant for what was there before. */
const readingMsMin = 500

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

makeFields(find('#edit form', HTMLFormElement), withoutId, 'edit-')

const edit: Action = {
  show: (plant, form) => {
    find('#edit-title').textContent = `Edit plant ${plant.id}`
    putPlant(form, withoutId, plant)
    form.dispatchEvent(new Event('input'))
  },
  mine: (form, plant) => plantIn(form, withoutId, plant),
  change: (form, plant, state) => connect().replacePlant(plant.id, edit.mine(form, plant), { ifMatch: state }),
  done: ({ id }) => `Plant ${id} was changed.`,
  cancel: ['Cancel', 'Keep theirs'],
  titles: ['Yours', 'Theirs'],
}

const remove: Action = {
  show: ({ id, name }) => {
    find('#remove-title').textContent = `Delete plant ${id}?`
    find('#remove-text').replaceChildren('It will be gone for good: ', boxed('Name', name, shown(name)))
  },
  mine: (_form, plant) => plant,
  change: (_form, { id }, state) => connect().deletePlant(id, { ifMatch: state }),
  done: ({ id }) => `Plant ${id} was deleted.`,
  cancel: ['Cancel', 'Keep the plant'],
  titles: ['Before', 'Now'],
}

function createDialog(
  name: DialogName,
  action: Action,
  { onStart, onDone, onRefusal }: DialogOptions,
): { readonly open: OpenDialog; readonly noteChanges: (ids: readonly bigint[]) => void } {
  const dialog = find(`#${name}`, HTMLDialogElement)
  const form = find('form', HTMLFormElement, dialog)
  const error = find(`#${name}-error`)
  const conflict = find(`#${name}-conflict`)
  const submit = find('[type="submit"]', HTMLButtonElement, dialog)
  const overwrite = find('[data-overwrite]', HTMLButtonElement, dialog)
  const cancel = find('[data-cancel]', HTMLButtonElement, dialog)
  let opened: Opened | undefined
  let isSaving = false
  let holding: number | undefined

  cancel.addEventListener('click', () => dialog.close())
  form.addEventListener('input', () => {
    for (const { name } of form.querySelectorAll<HTMLInputElement>('[name]')) showMarks(form, name)
    if (opened?.theirs !== undefined) showConflict(opened)
  })
  onSubmit(form, async () => opened && save(opened, opened.shown))
  overwrite.addEventListener('click', () =>
    whileBusy(overwrite, async () => opened?.theirs && save(opened, opened.theirs)),
  )
  // A key that is held presses once.
  overwrite.addEventListener('keydown', (event) => event.repeat && event.preventDefault())

  /** @param state the version that the person agreed to change. */
  async function save(mine: Opened, state: Tagged<StoredPlant>): Promise<void> {
    if (isSaving) return
    clearRefusal(form, error)
    if (!isFilledIn(form)) return
    // The dialog may have been closed and reopened for another plant in the meantime.
    const isOpen = (): boolean => dialog.open && opened === mine
    isSaving = true
    try {
      await action.change(form, mine.shown, state)
    } catch (refusal) {
      if (!isOpen()) onRefusal(refusal)
      else if (statusOf(refusal) === 412) await explainChange(mine, isOpen)
      else showRefusal(form, refusal, error)
      return
    } finally {
      isSaving = false
    }
    if (isOpen()) dialog.close()
    void onDone(mine.shown.id, name, action.done(mine.shown))
  }

  /** Keeps the typed text and shows the plant's current state beside it. */
  async function explainChange(mine: Opened, isOpen: () => boolean, isCertain = true): Promise<void> {
    try {
      const plant = await connect().getPlant(mine.shown.id)
      // What was read may include the change already, or the plant is again as it was.
      const isSame = !isCertain && plant.etag === mine.shown.etag
      if (!isOpen() || (isSame && mine.theirs === undefined)) return
      error.textContent = ''
      if (mine.theirs?.etag !== plant.etag) holdOverwrite()
      mine.theirs = isSame ? undefined : plant
      showConflict(mine)
    } catch (refusal) {
      const isGone = statusOf(refusal) === 404
      if (isOpen()) say(error, isGone ? 'Another client has deleted this plant.' : toSentence(wordsOf(refusal)))
    }
  }

  function holdOverwrite(): void {
    overwrite.inert = true
    clearTimeout(holding)
    // From the frame that shows the version.
    requestAnimationFrame(() => {
      clearTimeout(holding)
      holding = setTimeout(() => {
        overwrite.inert = false
      }, readingMsMin)
    })
  }

  function showConflict({ shown, theirs }: Opened): void {
    const hasConflict = theirs !== undefined
    conflict.replaceChildren(
      ...(hasConflict
        ? [
            make('p', '', 'Another client has changed this plant.'),
            ...sideBySide(action.titles, action.mine(form, shown), theirs),
          ]
        : []),
    )
    // What will be gone is the plant as it is now.
    if (action === remove) action.show(theirs ?? shown, form)
    showDifferences(conflict)
    const hadFocus = submit.matches(':focus') || !form.contains(document.activeElement)
    submit.hidden = hasConflict
    overwrite.hidden = !hasConflict
    cancel.textContent = action.cancel[hasConflict ? 1 : 0]
    // The next press of Enter agrees to nothing.
    if (hasConflict && hadFocus) conflict.focus()
  }

  async function open({ id }: Pick<StoredPlant, 'id'>, button: HTMLButtonElement): Promise<void> {
    onStart()
    try {
      const plant = await whileBusy(button, () => connect().getPlant(id))
      if (plant === undefined || document.querySelector('dialog[open]') !== null) return
      opened = { shown: plant }
      clearRefusal(form, error)
      action.show(plant, form)
      showConflict(opened)
      dialog.showModal()
    } catch (refusal) {
      onRefusal(refusal)
    }
  }

  function noteChanges(ids: readonly bigint[]): void {
    const mine = opened
    if (!dialog.open || mine === undefined || isSaving || !ids.includes(mine.shown.id)) return
    void explainChange(mine, () => dialog.open && opened === mine, false)
  }

  return { open, noteChanges }
}
