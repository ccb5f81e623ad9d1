// The form that creates a plant.

import { connect, statusOf } from './api.js'
import type { Change } from './client.js'
import { makeFields, plantIn } from './fields.js'
import { fieldOf, find } from './find.js'
import { clearRefusal, isFilledIn, onSubmit, showRefusal, tell } from './form.js'
import { findFreeId, idMax } from './free-id.js'
import { displayed } from './properties.js'

interface CreateOptions {
  readonly mayRead: () => boolean
  /** Called before a plant is sent. */
  readonly onStart: () => void
  /** Receives the id of the created plant. */
  readonly onCreated: (id: string) => Promise<void>
  /** Receives a refusal that does not concern the plant. */
  readonly onRefusal: (refusal: unknown) => void
}

export interface CreateForm {
  /** Opens the form, or closes it if it is open. */
  toggle(): void
  open(): void
  close(): void
  focus(): void
  /** Keeps the form open, with a welcome, while the store is empty. */
  welcome(isEmpty: boolean): void
  /** Offers another id if the one that it offers may have been taken; without changes, anything may have happened. */
  noteChanges(changes: readonly Change[]): void
}

const form = find('#create', HTMLFormElement)
makeFields(form, displayed)
const idField = find('#id', HTMLInputElement)
const ownId = find('#own-id', HTMLDetailsElement)
// Nobody has to invent an id, so it is out of the way.
ownId.append(idField.closest('.field') ?? idField)
const error = find('#create-error')
const section = find('#creating')
const toggler = find('#new', HTMLButtonElement)
const closer = find('#create-close', HTMLButtonElement)
/** The id that was offered last. */
let suggested = ''
/** The number of the last look for a free id: an older one offers nothing. */
let looks = 0
let isSending = false

export function createForm({ mayRead, onStart, onCreated, onRefusal }: CreateOptions): CreateForm {
  onSubmit(form, create)
  toggler.addEventListener('click', toggle)
  closer.addEventListener('click', close)
  section.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && find('#welcome').hidden) close()
  })
  idField.addEventListener('input', () => {
    find('#next-id').textContent = idField.value
  })

  function close(): void {
    show(false)
    toggler.focus()
  }

  async function create(): Promise<void> {
    const isWarned = fieldOf(form, 'name').ariaInvalid === 'true'
    clearRefusal(form, error)
    onStart()
    if (idField.value.trim() === '') await suggest()
    // Where nothing tells which ids are free, a person has to choose one.
    if (idField.value.trim() === '') ownId.open = true
    if (!isFilledIn(form)) return
    const id = idField.value.trim()
    const plant = { ...plantIn(form, displayed), id }
    if (plant.name === '' && !isWarned) return warnOfEmptyName()
    isSending = true
    try {
      await connect().createPlant(plant)
      form.reset()
      looks += 1
      const free = mayRead() ? await findFreeId(BigInt(id)) : undefined
      if (idField.value === '') offer(free ?? BigInt(id) + 1n)
      focusFirst()
      await onCreated(id)
    } catch (refusal) {
      if (statusOf(refusal) === 401) return onRefusal(refusal)
      showRefusal(form, refusal, error)
      if (idField.ariaInvalid === 'true') ownId.open = true
      form.querySelector<HTMLElement>('[aria-invalid]')?.focus()
      if (statusOf(refusal) === 409 && id === suggested && mayRead()) await offerAnother(id)
    } finally {
      isSending = false
    }
  }

  /** Another client was faster. */
  async function offerAnother(taken: string): Promise<void> {
    const free = await findFreeId(BigInt(taken))
    if (free === undefined || idField.value !== taken) return
    offer(free)
    tell(idField, `Another client has just taken ${taken}. The next free id is ${free}.`)
  }

  function show(isOpen: boolean): void {
    section.hidden = !isOpen
    toggler.ariaExpanded = String(isOpen)
  }

  function toggle(): void {
    const isOpen = section.hidden !== false
    show(isOpen)
    if (!isOpen) return
    focusFirst()
    void suggest()
  }

  /** Renews what is offered, unless a person has put another id in its place. */
  async function suggest(): Promise<void> {
    const { value } = idField
    if (!mayRead() || (value !== '' && value !== suggested)) return
    looks += 1
    const look = looks
    const free = await findFreeId()
    if (free !== undefined && look === looks && idField.value === value) offer(free)
  }

  /** The service takes an empty name; a person has usually forgotten it. */
  function warnOfEmptyName(): void {
    const name = fieldOf(form, 'name')
    tell(name, 'The name is empty. Press Create again if it should be.')
    name.focus()
  }

  function focusFirst(): void {
    fieldOf(form, 'name').focus()
  }

  return {
    toggle,
    open: () => {
      show(true)
      // Without reading, nothing tells which ids are free.
      ownId.open = !mayRead()
      focusFirst()
    },
    close: () => show(!find('#welcome').hidden),
    focus: focusFirst,
    welcome: (isEmpty) => {
      const wasEmpty = !find('#welcome').hidden
      find('#welcome').hidden = !isEmpty
      closer.hidden = isEmpty
      if (isEmpty === wasEmpty) return
      find('#create-title').textContent = isEmpty ? 'Create your first plant' : 'New plant'
      if (isEmpty && idField.value === '') offer(1n)
      if (isEmpty) show(true)
    },
    noteChanges: (changes) => {
      const isTaken = changes.some(({ plant }) => String(plant.id) === suggested)
      const isOffered = suggested !== '' && idField.value === suggested
      if (!section.hidden && !isSending && isOffered && (isTaken || changes.length === 0)) void suggest()
    },
  }
}

function offer(id: bigint): void {
  suggested = id > idMax ? '' : String(id)
  idField.value = suggested
  find('#next-id').textContent = suggested
  if (document.activeElement === idField) idField.select()
}
