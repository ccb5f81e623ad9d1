// The panel that shows one plant whole: its texts, and how to reach it with the API.

import { titlePage } from './address.js'
import { base, connect, statusOf, wordsOf } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { find } from './find.js'
import { say, toSentence } from './form.js'
import { snippetsOf } from './log-view.js'
import { copy, make } from './make.js'
import { boxed, shown, shownOrNone } from './plant-text.js'
import { displayed, jsonOf, shownText, withoutId } from './properties.js'

interface PlantOptions {
  /** Called when the dialog closes. */
  readonly onClose: () => void
  readonly onRefusal: (refusal: unknown) => void
  /** Receives the plant, and a button that gets the focus back. */
  readonly onEdit: (id: bigint, button: HTMLButtonElement) => Promise<void>
  readonly onRemove: (id: bigint, button: HTMLButtonElement) => Promise<void>
}

export interface PlantView {
  /** Shows a plant, or nothing without an id. */
  show(id: string | undefined): Promise<void>
  /** Shows the plant again if it is among those that changed. */
  noteChanges(ids: readonly bigint[]): void
}

const dialog = find('#plant', HTMLDialogElement)
const error = find('#plant-error')

export function createPlantView({ onClose, onRefusal, onEdit, onRemove }: PlantOptions): PlantView {
  let shownId: string | undefined

  /** Leaves the panel for something else about its plant. */
  const leaveFor = (name: 'edit' | 'remove', act: PlantOptions['onEdit']) => async () => {
    const id = shownId
    if (id === undefined) return
    dialog.close()
    const row = document.querySelector(`tr[data-id="${id}"] [data-action="${name}"]`)
    const button = row instanceof HTMLButtonElement ? row : find('#forget', HTMLButtonElement)
    await act(BigInt(id), button)
  }
  find('#plant-edit').addEventListener('click', leaveFor('edit', onEdit))
  find('#plant-remove').addEventListener('click', leaveFor('remove', onRemove))
  const link = find('#plant-link')
  link.addEventListener('click', () => copy(new URL(`?plant=${shownId}`, base).href, link, find('#plant-title')))
  dialog.addEventListener('close', () => {
    shownId = undefined
    titlePage()
    onClose()
  })

  async function show(id: string | undefined): Promise<void> {
    if (id === shownId) return
    shownId = id
    if (id === undefined) return dialog.close()
    try {
      const plant = await connect().getPlant(BigInt(id))
      if (shownId !== id) return
      fill(plant)
      if (document.querySelector('dialog[open]') === null) dialog.showModal()
    } catch (refusal) {
      if (shownId !== id) return
      shownId = undefined
      onClose()
      onRefusal(refusal)
    }
  }

  async function reload(id: string): Promise<void> {
    try {
      const plant = await connect().getPlant(BigInt(id))
      if (shownId === id) fill(plant)
    } catch (refusal) {
      const isGone = statusOf(refusal) === 404
      if (shownId === id) say(error, isGone ? 'Another client has deleted this plant.' : toSentence(wordsOf(refusal)))
    }
  }

  return {
    show,
    noteChanges: (ids) => {
      if (shownId !== undefined && ids.includes(BigInt(shownId))) void reload(shownId)
    },
  }
}

function fill(plant: Tagged<StoredPlant>): void {
  const { id, etag, name } = plant
  error.textContent = ''
  find('#plant-title').replaceChildren(shown(name))
  titlePage(name)
  const fact = (title: string, ...value: Node[]): Node[] => [make('dt', '', title), make('dd', '', ...value)]
  find('#plant-facts').replaceChildren(
    ...displayed.flatMap((property) => {
      const text = shownText(property, plant)
      return property.name === 'name' ? [] : fact(property.title, boxed(property.title, text, shownOrNone(text)))
    }),
  )
  const body = jsonOf(plant, withoutId)
  const url = new URL(`plants/${id}`, base)
  const type = ['content-type', 'application/json'] as const
  const match = ['if-match', etag] as const
  const requests = {
    'Get it': { method: 'GET', url, fields: [] },
    'Replace it, unless it has changed': { method: 'PUT', url, fields: [type, match], body },
    'Delete it, unless it has changed': { method: 'DELETE', url, fields: [match] },
  }
  find('#plant-requests').replaceChildren(
    make('p', 'hint', 'The ETag ', make('code', '', etag), ' names this state of the plant.'),
    ...Object.entries(requests).map(([title, sent]) => {
      const details = make('details', '', make('summary', '', title))
      details.addEventListener('toggle', () => details.children.length > 1 || details.append(snippetsOf(sent)))
      return details
    }),
  )
}
