// The form that creates a plant.

import { connect, connectAside, readPage, statusOf } from './api.js'
import { PlantStoreError } from './client.js'
import { fieldOf, find } from './find.js'
import { clearRefusal, isFilledIn, onSubmit, showRefusal, tell } from './form.js'

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
  /** Opens the form, or closes it if it has the focus. */
  toggle(): void
  open(): void
  /** Keeps the form open, with a welcome, while the store is empty. */
  welcome(isEmpty: boolean): void
}

const idMax = 2n ** 63n - 1n

const form = find('#create', HTMLFormElement)
const error = find('#create-error')
const section = find('#creating')
const toggler = find('#new', HTMLButtonElement)
const closer = find('#create-close', HTMLButtonElement)

export function createForm({ mayRead, onStart, onCreated, onRefusal }: CreateOptions): CreateForm {
  onSubmit(form, create)
  toggler.addEventListener('click', toggle)
  closer.addEventListener('click', close)
  section.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && find('#welcome').hidden) close()
  })

  function close(): void {
    show(false)
    toggler.focus()
  }

  async function create(): Promise<void> {
    const isWarned = fieldOf(form, 'name').ariaInvalid === 'true'
    clearRefusal(form, error)
    onStart()
    if (!isFilledIn(form)) return
    const id = fieldOf(form, 'id').value.trim()
    const name = fieldOf(form, 'name').value
    if (name === '' && !isWarned) return warnOfEmptyName()
    const tag = fieldOf(form, 'tag').value
    try {
      await connect().createPlant({ id, name, ...(tag !== '' && { tag }) })
      form.reset()
      suggestAfter(id)
      await onCreated(id)
    } catch (refusal) {
      if (statusOf(refusal) === 401) onRefusal(refusal)
      else showRefusal(form, refusal, error)
    }
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
    if (mayRead()) void suggest()
  }

  /** The service takes an empty name; a person has usually forgotten it. */
  function warnOfEmptyName(): void {
    const name = fieldOf(form, 'name')
    tell(name, 'The name is empty. Press Create again if it should be.')
    name.focus()
  }

  function focusFirst(): void {
    const id = fieldOf(form, 'id')
    const first = id.value === '' ? id : fieldOf(form, 'name')
    first.focus()
  }

  return {
    toggle,
    open: () => {
      show(true)
      focusFirst()
    },
    welcome: (isEmpty) => {
      find('#welcome').hidden = !isEmpty
      closer.hidden = isEmpty
      find('#create-title').textContent = isEmpty ? 'Create your first plant' : 'New plant'
      const id = fieldOf(form, 'id')
      if (!isEmpty) return
      if (id.value === '') id.value = '1'
      show(true)
    },
  }
}

function suggestAfter(id: string): void {
  const next = BigInt(id) + 1n
  fieldOf(form, 'id').value = next > idMax ? '' : String(next)
  fieldOf(form, next > idMax ? 'id' : 'name').focus()
}

const pageOfIds = 1_000

/** Puts a free id into an empty field. */
async function suggest(): Promise<void> {
  const field = fieldOf(form, 'id')
  if (field.value !== '') return
  const free = await findFreeId()
  if (free === undefined || free > idMax || field.value !== '') return
  field.value = String(free)
  if (document.activeElement === field) field.select()
}

/** The first free id above the number of plants. Undefined if the server does not tell. */
async function findFreeId(): Promise<bigint | undefined> {
  try {
    const client = connectAside()
    const { plants: count } = await client.getSummary()
    const { plants } = await readPage({ after: String(count), limit: pageOfIds }, client)
    let free = BigInt(count) + 1n
    for (const { id } of plants) if (id === free) free += 1n
    return free
  } catch (refusal) {
    if (refusal instanceof PlantStoreError) return undefined
    throw refusal
  }
}
