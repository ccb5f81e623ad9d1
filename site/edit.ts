// The dialog that changes a plant. It sends the plant's ETag, so that it overwrites no other client's change unseen, and
// shows both versions side by side.

import { connect, statusOf } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { attempts, type Child, find, hold, make, makeButton, makeTable, refocus, showState } from './elements.js'
import { fieldFor, isFilledIn, makeFieldAnew, onSubmit, plantIn, showRefusal, whileBusy } from './form.js'
import { announce, explain, hush, say } from './messages.js'
import { isSame, type PlantProperty, shownText, withoutId } from './properties.js'
import { paint } from './tags.js'
import { boxed, shown } from './texts.js'

/** Shows versions of a plant: each property in which they differ, with what is not as it was marked. */
function sideBySide(original: object, mine: object, theirs: object): Node {
  const titles = ['Original', 'Yours', 'Theirs']
  const rows = withoutId.flatMap((property): Child[][] => {
    const { title } = property
    const [before, typed, other] = [original, mine, theirs].map((plant) => shownText(property, plant))
    if (before === typed && before === other) return []
    const cells = [before, typed, other].map((text, at) => {
      const node = shown(text)
      // What only they have changed is in the form already.
      const isTheirs = at === 1 && typed === other
      return boxed(`${title}, ${titles[at]}`, text, text === before || isTheirs ? node : make('mark', node))
    })
    const label = { class: 'chip', title: `Use this for ${title}` }
    const taker = typed !== other && makeButton('Use this', () => takeTheirs(property), label)
    return [[make('th', { scope: 'row' }, title), cells[0], cells[1], make('td', cells[2], taker)]]
  })
  return makeTable('Versions', ['', ...titles], rows)
}

/** The plant of the dialog. */
interface Opened {
  /** What is typed. */
  readonly fields: HTMLElement
  /** The form changes this version alone. It has no ETag before the server has been asked. */
  shown: StoredPlant & { readonly etag?: string }
  /** Another client's version, if it is shown beside the form. */
  theirs?: Opened['shown'] | undefined
  /** Whether somebody has deleted it. */
  isGone?: boolean
}

const dialog = find('#edit', HTMLDialogElement)
const form = find('form', HTMLFormElement, dialog)
const error = find('#edit-error')
const head = find('.head', HTMLElement, dialog)
const conflict = find('#edit-conflict')
const submit = find('[type="submit"]', HTMLButtonElement, dialog)
const overwrite = find('[data-overwrite]', HTMLButtonElement, dialog)
const leave = find('[data-cancel]', HTMLButtonElement, dialog)
/** What was typed and not saved, by id: it stands there again when its plant is opened again. */
const drafts = new Map<bigint, Opened>()
let opened: Opened | undefined
let isSaving = false
const beginMerge = attempts()

form.addEventListener('input', () => {
  if (opened === undefined) return
  drafts.set(opened.shown.id, opened)
  paint(head, plantIn(form, withoutId, opened.shown))
  if (opened.theirs !== undefined) showConflict(opened)
})
leave.addEventListener('click', () => {
  if (opened === undefined) return
  drafts.delete(opened.shown.id)
  if (opened.theirs !== undefined) announce('Nothing was changed.')
})
dialog.addEventListener('close', () => refocus(opened?.shown.id))

/** @param onDone receives the plant that was changed. */
export function startEditing(onDone: (plant: StoredPlant, sentence: string) => Promise<void>): void {
  const saveOver = async (state: Opened['shown'] | undefined): Promise<void> => {
    const mine = opened
    if (mine === undefined || state === undefined || !(await save(mine, state))) return
    void onDone(mine.shown, `Saved ${JSON.stringify(mine.shown.name)}.`)
  }
  onSubmit(form, async () => (opened?.theirs === undefined ? saveOver(opened?.shown) : conflict.focus()))
  overwrite.addEventListener('click', () => whileBusy(overwrite, () => saveOver(opened?.theirs)).catch(explain))
}

/** @param known the plant as the page shows it: what has become of it is taken into the form as soon as it is read. */
export function edit(known: StoredPlant | Tagged<StoredPlant>): void {
  hush()
  const { id, name } = known
  const draft = drafts.get(id)
  const made = withoutId.map((property) => fieldFor(property, 'edit-', known))
  opened = draft ?? { shown: known, fields: make('div.fields', made) }
  find('.fields', HTMLElement, form).replaceWith(opened.fields)
  error.textContent = ''
  paint(head, known)
  find('#edit-title').replaceChildren('Edit ', shown(name))
  find('#edit-hint').textContent = `Plant ${id}${draft ? ', with what you have typed and not saved' : ''}`
  showConflict(opened)
  dialog.showModal()
  void merge(opened)
}

/** Tells the reader of an open dialog that its plant has changed. */
export function noteChangesOfEdited(ids: readonly bigint[]): void {
  if (opened !== undefined && isOpen(opened) && !isSaving && ids.includes(opened.shown.id)) {
    void merge(opened)
  }
}

/** The dialog may have been closed and reopened for another plant in the meantime. */
function isOpen(mine: Opened): boolean {
  return dialog.open && opened === mine
}

/**
 * Saves what is typed, and closes the dialog. Returns whether the plant was changed.
 *
 * @param state the version that the person agreed to change.
 */
async function save(mine: Opened, state: Opened['shown'], isAgain = false): Promise<boolean> {
  if (isSaving) return false
  if (!isFilledIn(form, error)) return false
  isSaving = true
  const { id } = mine.shown
  try {
    const isNew = state.etag === undefined && mine.isGone !== true
    if (isNew && !(await merge(mine))) {
      if (!isOpen(mine)) announce(`${JSON.stringify(mine.shown.name)} is not saved: its form was closed too early.`)
      return false
    }
    const { etag } = isNew ? mine.shown : state
    const sent = plantIn(form, withoutId, mine.shown)
    if (mine.isGone) await connect().createPlant({ id, ...sent })
    const store = connect()
    const saved = await (mine.isGone ? store.getPlant(id) : store.replacePlant(id, sent, { ifMatch: etag ?? '' }))
    // A person may have typed more meanwhile.
    const isDone = opened !== mine || isSame(plantIn(form, withoutId, mine.shown), sent)
    mine.shown = { ...saved, id }
    mine.theirs = undefined
    if (isDone) drafts.delete(id)
    if (isOpen(mine)) showConflict(mine)
    if (isOpen(mine) && isDone) dialog.close()
    return true
  } catch (refusal) {
    if (!isOpen(mine)) explain(refusal)
    else if (![409, 412].includes(statusOf(refusal) ?? 0)) refuse(mine, refusal)
    else if (!(await merge(mine))) return false
    else if (isAgain) refuse(mine, refusal)
    else {
      isSaving = false
      return await save(mine, mine.shown, true)
    }
    return false
  } finally {
    isSaving = false
  }
}

/** Takes the plant's current state into the form, as `take` does. */
async function merge(mine: Opened): Promise<boolean> {
  const isNewest = beginMerge()
  try {
    const plant = await connect().getPlant(mine.shown.id)
    return isOpen(mine) && isNewest() && take(mine, plant)
  } catch (refusal) {
    if (isOpen(mine)) refuse(mine, refusal)
    return false
  }
}

function refuse(mine: Opened, refusal: unknown): void {
  if (statusOf(refusal) === 404) {
    mine.isGone = true
    mine.theirs = undefined
    showConflict(mine)
    say(error, 'This plant was deleted. Save to create it again.')
  } else if (statusOf(refusal) === 401) explain(refusal)
  else showRefusal(form, refusal, error)
}

/**
 * Merges a plant's current state into the form, and shows both side by side if another client has changed what a person
 * has changed, too. Returns whether there is no such conflict.
 */
function take(mine: Opened, plant: Tagged<StoredPlant>): boolean {
  mine.isGone = false
  takeUntouched(mine, plant)
  const typed = plantIn(form, withoutId, plant)
  // Such as after a save whose answer was lost.
  const isKnown = isSame(mine.shown, plant) || isSame({ ...typed, id: plant.id }, plant)
  if (isKnown) mine.shown = plant
  if (isKnown && mine.theirs === undefined) return true
  error.textContent = ''
  if (mine.theirs?.etag !== plant.etag) hold(overwrite)
  mine.theirs = isKnown ? undefined : plant
  showConflict(mine)
  return isKnown
}

/** What a person has not changed becomes what another client made of it. */
function takeUntouched({ shown, theirs = shown }: Opened, plant: StoredPlant): void {
  const typed = plantIn(form, withoutId, shown)
  for (const property of withoutId) {
    const isTyped = (version: object): boolean => shownText(property, version) === shownText(property, typed)
    if (!isTyped(plant) && (isTyped(shown) || isTyped(theirs))) makeFieldAnew(form, property, 'edit-', plant)
  }
}

/** Puts a value of the other version into the form. */
function takeTheirs(property: PlantProperty): void {
  makeFieldAnew(form, property, 'edit-', opened?.theirs ?? {})
  form.dispatchEvent(new Event('input'))
}

function showConflict({ shown, theirs }: Opened): void {
  const hasConflict = theirs !== undefined
  conflict.replaceChildren()
  if (hasConflict) {
    const mine = plantIn(form, withoutId, theirs)
    const news = make('p', { role: 'alert' }, make('b', 'Someone else changed this plant.'), ' Choose what to keep.')
    conflict.append(news, sideBySide(shown, mine, theirs))
    const isMerged = withoutId.every((property) => {
      const [before, typed, other] = [shown, mine, theirs].map((plant) => shownText(property, plant))
      return before === other || typed === other
    })
    overwrite.textContent = isMerged ? 'Save merged' : 'Overwrite with mine'
  }
  const hadFocus = submit.matches(':focus') || !form.contains(document.activeElement)
  showState(dialog, hasConflict ? 'conflict' : 'mine')
  leave.textContent = hasConflict ? 'Keep theirs' : 'Cancel'
  // The next press of Enter agrees to nothing.
  if (hasConflict && hadFocus) conflict.focus()
}
