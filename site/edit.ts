// The dialog that changes a plant. It sends the plant's ETag, so that it overwrites no other client's change unseen.

import { connect, statusOf, wordsOf } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { showDifferences, sideBySide } from './conflict.js'
import { makeFields, plantIn, putPlant } from './fields.js'
import { find } from './find.js'
import { clearRefusal, isFilledIn, onSubmit, say, showRefusal, toSentence, whileBusy } from './form.js'
import { make } from './make.js'
import { withoutId } from './properties.js'
import { showMarks } from './text-field.js'

interface EditOptions {
  /** Called before the dialog opens. */
  readonly onStart: () => void
  readonly onDone: (id: bigint, sentence: string) => Promise<void>
  /** Receives a refusal that the dialog does not show. */
  readonly onRefusal: (refusal: unknown) => void
}

/** The plant of the dialog. */
interface Opened {
  /** As first shown: the form changes this version alone. */
  readonly shown: Tagged<StoredPlant>
  /** Another client's version, if it is shown beside the form. */
  theirs?: Tagged<StoredPlant> | undefined
}

export interface EditDialog {
  /** @param button the one that was pressed. */
  open(id: bigint, button: HTMLButtonElement): Promise<void>
  /** Tells the reader of an open dialog that its plant has changed. */
  noteChanges(ids: readonly bigint[]): void
}

/** How long a version is shown before it can be overwritten: an earlier press was meant for what was there before. */
const readingMsMin = 500

const dialog = find('#edit', HTMLDialogElement)
const form = find('form', HTMLFormElement, dialog)
const error = find('#edit-error')
const conflict = find('#edit-conflict')
const submit = find('[type="submit"]', HTMLButtonElement, dialog)
const overwrite = find('[data-overwrite]', HTMLButtonElement, dialog)
const cancel = find('[data-cancel]', HTMLButtonElement, dialog)
makeFields(form, withoutId, 'edit-')

export function createEditDialog({ onStart, onDone, onRefusal }: EditOptions): EditDialog {
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
      const plant = plantIn(form, withoutId, mine.shown)
      await connect().replacePlant(mine.shown.id, plant, { ifMatch: state.etag })
    } catch (refusal) {
      if (!isOpen()) onRefusal(refusal)
      else if (statusOf(refusal) === 412) await explainChange(mine, isOpen)
      else showRefusal(form, refusal, error)
      return
    } finally {
      isSaving = false
    }
    if (isOpen()) dialog.close()
    void onDone(mine.shown.id, `Plant ${mine.shown.id} was changed.`)
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
            ...sideBySide(['Yours', 'Theirs'], plantIn(form, withoutId, shown), theirs),
          ]
        : []),
    )
    showDifferences(conflict)
    const hadFocus = submit.matches(':focus') || !form.contains(document.activeElement)
    submit.hidden = hasConflict
    overwrite.hidden = !hasConflict
    cancel.textContent = hasConflict ? 'Keep theirs' : 'Cancel'
    // The next press of Enter agrees to nothing.
    if (hasConflict && hadFocus) conflict.focus()
  }

  async function open(id: bigint, button: HTMLButtonElement): Promise<void> {
    onStart()
    try {
      const plant = await whileBusy(button, () => connect().getPlant(id))
      if (plant === undefined || document.querySelector('dialog[open]') !== null) return
      opened = { shown: plant }
      clearRefusal(form, error)
      find('#edit-title').textContent = `Edit plant ${id}`
      putPlant(form, withoutId, plant)
      form.dispatchEvent(new Event('input'))
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
