// The form that creates a plant. Nobody has to invent an id: the form offers one that is free.

import { idOf } from './address.js'
import { connect, freeIds, idMax, isRefusal, isThere, statusOf } from './api.js'
import type { StoredPlant } from './client.js'
import { mayReturn } from './deletions.js'
import { fieldOf, find, isHere } from './elements.js'
import { fieldFor, focusWrong, isFilledIn, onSubmit, plantIn, showRefusal, tell } from './form.js'
import { closeLog } from './log.js'
import { announceFailure, hush } from './messages.js'
import { openPlant } from './plant.js'
import { displayed, isSame, type Values, withoutId } from './properties.js'
import { showEarly } from './table.js'
import { paint } from './tags.js'
import { may } from './token.js'

/** How many offered ids other clients may take before a person has to choose one. */
const triesMax = 5

const form = find('#create', HTMLFormElement)
find('.fields', HTMLElement, form).replaceChildren(...displayed.map((each) => fieldFor(each)))
const idField = find('#id', HTMLInputElement)
const ownId = find('#own-id', HTMLDetailsElement)
ownId.append(idField.closest('.field') ?? idField)
const error = find('#create-error')
const section = find('#creating')
/** `empty` while there are no plants: the form stays open then, beside a welcome. */
const page = document.body.classList
const toggler = find('#new', HTMLButtonElement)
const closer = find('#create-close', HTMLButtonElement)
const isPhone = matchMedia('(max-width: 43rem)')
/** The id that was offered last. */
let offered = ''
/** The id of the last create, if it got no answer: the plant may be there. */
let unanswered: string | undefined

toggler.addEventListener('click', toggleForm)
form.addEventListener('input', draw)
closer.addEventListener('click', () => {
  show(false)
  toggler.focus()
})
section.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape' && !page.contains('empty')) closer.click()
})

find('summary', HTMLElement, ownId).addEventListener('click', (event) => {
  event.preventDefault()
  ownId.open = true
  idField.select()
})

// Both have the same place in a wide window.
find('#plant').addEventListener('beforetoggle', ({ newState }) => newState === 'open' && closeForm())

/** @param onCreated receives the plant that was created. */
export function startForm(onCreated: (plant: StoredPlant, sentence: string) => Promise<void>): void {
  onSubmit(form, async () => {
    // The service takes an empty name; a person has usually forgotten it.
    const isWarned = fieldOf(form, 'name').ariaInvalid === 'true'
    const plant = plantIn(form, withoutId)
    hush()
    try {
      if (idField.value.trim() === '') await offerFree()
      // Where nothing tells which ids are free, a person has to choose one.
      if (idField.value.trim() === '') ownId.open = true
      if (!isFilledIn(form, error)) return
      if (fieldOf(form, 'name').value === '' && !isWarned) {
        tell(fieldOf(form, 'name'), 'Enter a name, or press Create again to leave it empty.')
        return focusWrong(form)
      }
      const first = idOf(idField.value)
      const settle = first === undefined ? undefined : showEarly({ ...plant, id: first })
      let id: string | undefined
      try {
        id = await create(plant, triesMax)
      } finally {
        settle?.(id === String(first))
      }
      unanswered = undefined
      const isIdLeft = ['', id].includes(idField.value.trim())
      // A person may have begun with the next plant.
      if (isIdLeft && isSame(plantIn(form, withoutId), plant)) {
        form.reset()
        draw()
        if (isHere(form)) focusForm()
      }
      if (isIdLeft) offer(undefined)
      void onCreated({ ...plant, id: BigInt(id) }, `Created ${JSON.stringify(plant.name)} with the id ${id}.`)
      void offerIfReached(BigInt(id)).then(() => idField.value === '' && offer(BigInt(id) + 1n))
    } catch (refusal) {
      if (statusOf(refusal) === 409) ownId.open = true
      // A person may have closed the form, or begun with the next plant.
      const isGone = section.hidden || !isSame(plantIn(form, withoutId), plant)
      if (isGone && statusOf(refusal) !== 401) announceFailure(plant, 'created', refusal)
      else showRefusal(form, refusal, error)
    }
  })
}

/** Creates the plant of the form. If another client has taken the id that was offered, tries the next one. */
async function create(plant: Values, tries: number): Promise<string> {
  const id = idField.value.trim()
  try {
    await connect().createPlant({ id, ...plant })
    return id
  } catch (refusal) {
    if (statusOf(refusal) === 409 && id === unanswered) {
      if (await isThere({ ...plant, id: BigInt(id) })) return id
      unanswered = undefined
    }
    if (isRefusal(refusal) && refusal.mayBeDone) unanswered = id
    const isOffered = id === offered && tries > 1
    if (statusOf(refusal) !== 409 || !isOffered || !(await offerFree(BigInt(id)))) throw refusal
    return create(plant, tries - 1)
  }
}

/** Opens the form, or closes it if it is open. */
export function toggleForm(): void {
  if (section.hidden) openForm()
  else closer.click()
}

/** @param name what the plant is called. */
export function openForm(name = ''): void {
  if (name !== '') fieldOf(form, 'name').value = name
  show(true)
  // Nothing tells which ids are free.
  if (!may.read) ownId.open = true
  focusForm()
  void offerIfReached()
}

/** Closes the form, unless the store is empty. */
export function closeForm(): void {
  show(page.contains('empty'))
}

export function focusForm(): void {
  fieldOf(form, 'name').focus()
}

/** Keeps the form open, with a welcome, while the store is empty. */
export function showWelcome(isEmpty: boolean): void {
  if (isEmpty === page.contains('empty')) return
  page.toggle('empty', isEmpty)
  section.classList.toggle('hero', isEmpty)
  find('#create-title').textContent = isEmpty ? 'Create your first plant' : 'New plant'
  if (isEmpty && idField.value === '') offer(1n)
  if (isEmpty) show(true)
}

function draw(): void {
  paint(section, plantIn(form, withoutId))
}

function show(isOpen: boolean): void {
  draw()
  section.hidden = !isOpen
  // There is no room for both.
  if (isOpen && isPhone.matches) closeLog()
  if (isOpen && !page.contains('empty')) openPlant(undefined)
  toggler.ariaExpanded = String(isOpen)
}

/** Without the server, there is time until the plant is created. */
const offerIfReached = (above?: bigint): Promise<boolean> => offerFree(above).catch(() => false)

/** Offers a free id, unless a person has put another one in its place. Returns whether there is one. */
async function offerFree(above?: bigint): Promise<boolean> {
  const { value } = idField
  if (!may.read || (value.trim() !== '' && value !== offered) || value === unanswered) return false
  let free: bigint | undefined
  for await (free of freeIds(above)) if (!mayReturn(free)) break
  // Whoever has just entered the field is about to type another one.
  const isTaken = above === undefined && value !== '' && document.activeElement === idField
  if (free === undefined || idField.value !== value || isTaken) return false
  offer(free)
  return offered !== ''
}

function offer(id: bigint | undefined): void {
  offered = id === undefined || id > idMax ? '' : String(id)
  idField.value = offered
  find('#next-id').textContent = offered || 'next free'
}
