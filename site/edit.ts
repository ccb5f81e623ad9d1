// The dialog that changes a plant. It sends the plant's ETag, so that it overwrites no other client's change unseen, and
// shows both versions side by side.

import { connect, statusOf } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { type Child, find, make, makeButton, makeTable } from './elements.js'
import { clearRefusal, isFilledIn, makeFields, onSubmit, plantIn, showMarks, showRefusal, whileBusy } from './form.js'
import { explain, explainAbsence, hush } from './messages.js'
import { isUsual, ownOf, type PlantProperty, plantOf, shownText, withoutId } from './properties.js'
import { boxed, marked, shownOrNone } from './texts.js'

/** Shows two versions of a plant: its name and tag, and what differs, which is marked. */
function sideBySide(mine: object, theirs: object): Node {
  const titles = ['Yours', 'Theirs']
  const rows = withoutId.flatMap((property): Child[][] => {
    const { title } = property
    const texts = [shownText(property, mine), shownText(property, theirs)] as const
    const isSame = texts[0] === texts[1]
    if (isSame && !isUsual(property)) return []
    const cells = differencesOf(...texts).map((nodes, at) => boxed(`${title}, ${titles[at]}`, texts[at], ...nodes))
    const words = ['Use this', make('span.unseen', ` for ${title}`)]
    const taker = makeButton(words, () => takeTheirs(property), { class: 'chip' })
    return [[make('th', { scope: 'row' }, title), cells[0], make('td', cells[1], !isSame && taker)]]
  })
  return makeTable(['', ...titles], rows)
}

/** The nodes of each text, with a mark around what is between their common beginning and end. */
function differencesOf(one: string | undefined, other: string | undefined): readonly [Node[], Node[]] {
  if (one === other) return [[shownOrNone(one)], [shownOrNone(other)]]
  if (!one || !other) return [[make('mark', shownOrNone(one))], [make('mark', shownOrNone(other))]]
  // By word, as people read: a mark within one is hard to see, and none splits what is seen as one character.
  const [ones, others] = [one, other].map((text) => Array.from(words.segment(text), ({ segment }) => segment))
  if (ones === undefined || others === undefined) return [[], []]
  const shorter = Math.min(ones.length, others.length)
  let start = 0
  while (start < shorter && ones[start] === others[start]) start += 1
  let kept = 0
  while (kept < shorter - start && ones.at(-1 - kept) === others.at(-1 - kept)) kept += 1
  return [around(ones, start, kept), around(others, start, kept)]
}

const words = new Intl.Segmenter('en', { granularity: 'word' })

function around(parts: readonly string[], start: number, kept: number): Node[] {
  const text = parts.join('')
  const from = parts.slice(0, start).join('').length
  const to = text.length - parts.slice(parts.length - kept).join('').length
  const middle = from === to ? [] : [make('mark', ...marked(text, [from, to]))]
  return [make('bdi', ...marked(text, [0, from]), ...middle, ...marked(text, [to, text.length]))]
}

/** The plant of the dialog. */
interface Opened {
  /** As first shown: the form changes this version alone. */
  readonly shown: Tagged<StoredPlant>
  /** Another client's version, if it is shown beside the form. */
  theirs?: Tagged<StoredPlant> | undefined
}

const conflictWords = ' Use some of their values, overwrite theirs with yours, or keep theirs.'

/** How long a version is shown before it can be overwritten: an earlier press was meant for what was there before. */
const readingMsMin = 500

const dialog = find('#edit', HTMLDialogElement)
const form = find('form', HTMLFormElement, dialog)
const error = find('#edit-error')
const conflict = find('#edit-conflict')
const submit = find('[type="submit"]', HTMLButtonElement, dialog)
const overwrite = find('[data-overwrite]', HTMLButtonElement, dialog)
const leave = find('[data-cancel]', HTMLButtonElement, dialog)
let opened: Opened | undefined
let isSaving = false
/** The plant whose button was pressed last. */
let asked: bigint | undefined
let holding: number | undefined

form.addEventListener('input', () => {
  for (const { name } of form.querySelectorAll<HTMLInputElement>('[name]')) showMarks(form, name)
  if (opened?.theirs !== undefined) showConflict(opened)
})
// A key that is held presses once.
overwrite.addEventListener('keydown', (event) => event.repeat && event.preventDefault())

/** @param onDone receives the plant that was changed. */
export function startEditing(onDone: (id: bigint, sentence: string) => Promise<void>): void {
  const saveOver = async (state: Tagged<StoredPlant> | undefined): Promise<void> => {
    const mine = opened
    if (mine === undefined || state === undefined || !(await save(mine, state))) return
    void onDone(mine.shown.id, `Plant ${mine.shown.id} was changed.`)
  }
  onSubmit(form, () => saveOver(opened?.shown))
  overwrite.addEventListener('click', () => whileBusy(overwrite, () => saveOver(opened?.theirs)))
}

/** @param button the one that was pressed. */
export async function edit(id: bigint, button: HTMLButtonElement): Promise<void> {
  hush()
  asked = id
  const plant = await whileBusy(button, () => connect().getPlant(id))
  if (plant === undefined || asked !== id || document.querySelector('dialog:modal') !== null) return
  opened = { shown: plant }
  error.textContent = ''
  find('#edit-title').replaceChildren(
    make('span.cut', 'Edit ', shownOrNone(plant.name)),
    make('span.hint', `Plant ${id}`),
  )
  makeFields(form, withoutId, 'edit-', plant)
  form.dispatchEvent(new Event('input'))
  showConflict(opened)
  dialog.showModal()
}

/** Tells the reader of an open dialog that its plant has changed. */
export function noteChangesOfEdited(ids: readonly bigint[]): void {
  if (opened !== undefined && isOpen(opened) && !isSaving && ids.includes(opened.shown.id)) {
    void explainChange(opened, false)
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
async function save(mine: Opened, state: Tagged<StoredPlant>): Promise<boolean> {
  if (isSaving) return false
  clearRefusal(form, error)
  if (!isFilledIn(form)) return false
  isSaving = true
  try {
    await connect().replacePlant(mine.shown.id, plantIn(form, withoutId, mine.shown), { ifMatch: state.etag })
    if (isOpen(mine)) dialog.close()
    return true
  } catch (refusal) {
    if (!isOpen(mine)) explain(refusal)
    else if (statusOf(refusal) === 412) await explainChange(mine)
    else showRefusal(form, refusal, error)
    return false
  } finally {
    isSaving = false
  }
}

/** Keeps the typed text and shows the plant's current state beside it. */
async function explainChange(mine: Opened, isCertain = true): Promise<void> {
  try {
    const plant = await connect().getPlant(mine.shown.id)
    // What was read may include the change already, or the plant is again as it was.
    const isSame = !isCertain && plant.etag === mine.shown.etag
    if (!isOpen(mine) || (isSame && mine.theirs === undefined)) return
    error.textContent = ''
    if (mine.theirs?.etag !== plant.etag) holdOverwrite()
    mine.theirs = isSame ? undefined : plant
    showConflict(mine)
  } catch (refusal) {
    if (isOpen(mine)) explainAbsence(refusal, error)
  }
}

/** Puts a value of the other version into the form. */
function takeTheirs(property: PlantProperty): void {
  if (opened?.theirs === undefined) return
  const { shown, theirs } = opened
  const mine = plantIn(form, withoutId, shown)
  const both = withoutId.map((each) => [each.name, ownOf(each === property ? theirs : mine, each.name)] as const)
  makeFields(form, withoutId, 'edit-', plantOf(both))
  form.dispatchEvent(new Event('input'))
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
  conflict.replaceChildren()
  if (hasConflict) {
    const mine = plantIn(form, withoutId, shown)
    conflict.append(make('p', make('b', 'Someone else changed this plant.'), conflictWords), sideBySide(mine, theirs))
    const isMerged = withoutId.some((property) => {
      const [before, typed, other] = [shown, mine, theirs].map((plant) => shownText(property, plant))
      return before !== other && typed === other
    })
    overwrite.textContent = isMerged ? 'Save merged' : 'Overwrite with mine'
    overwrite.className = isMerged ? 'main' : 'main danger'
  }
  // The difference of each long text is seen.
  for (const box of conflict.querySelectorAll('.long')) {
    const mark = box.querySelector('mark')
    if (mark !== null) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top
  }
  const hadFocus = submit.matches(':focus') || !form.contains(document.activeElement)
  submit.hidden = hasConflict
  overwrite.hidden = !hasConflict
  leave.textContent = hasConflict ? 'Keep theirs' : 'Cancel'
  // The next press of Enter agrees to nothing.
  if (hasConflict && hadFocus) conflict.focus()
}
