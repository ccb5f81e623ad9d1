// The home page: connects the token, the forms, the tags, the table, its dialogs and the log.

import { type Access, createAccess, type May } from './access.js'
import { placesBefore, readView, writeView } from './address.js'
import { connectAside, token, wordsOf } from './api.js'
import { type Change, PlantStoreError } from './client.js'
import { createForm } from './create.js'
import { createDialogs, type DialogName } from './dialogs.js'
import { addExamples } from './examples.js'
import { exportPlants } from './export.js'
import { find } from './find.js'
import { say, toSentence, whileBusy } from './form.js'
import { createLive } from './live.js'
import { clearLog } from './log.js'
import { createLogView } from './log-view.js'
import { make } from './make.js'
import { createMany } from './many.js'
import { closeMenu, createMenus } from './menus.js'
import { createPlantView } from './plant.js'
import { createTable } from './table.js'
import { createTags } from './tags.js'

const createdId = find('#id', HTMLInputElement)
const unreachable = 'The server cannot be reached; try again.'
let may: May = { read: false, write: false }

const inTable = (refusal: unknown): void => explain(refusal, '#table-error')
const inForm = (refusal: unknown): void => explain(refusal, '#create-error')

const access: Access = createAccess({
  onEnter: enter,
  onForget: () => {
    live.stop()
    clearLog()
    for (const dialog of document.querySelectorAll('dialog')) dialog.close()
  },
})
const tags = createTags((tag) => void table.filterByTag(tag))
const table = createTable({
  onEdit: (plant, button) => dialogs.edit(plant, button),
  onRemove: (plant, button) => dialogs.remove(plant, button),
  onOpen: (id) => openPlant(id, true),
  onLoad: hush,
  onView: (view) => tags.choose(view.tag),
  onRefusal: inTable,
})
const dialogs = createDialogs({ onStart: hush, onDone: changed, onRefusal: inTable })
const plantView = createPlantView({ onClose: () => openPlant(undefined, true), onRefusal: inTable, dialogs })
const live = createLive({ onChanges: showChanges, onBack: recover, onRefusal: inTable })
const creation = createForm({ mayRead: () => may.read, onStart: hush, onCreated: created, onRefusal: inForm })
createLogView()
createMenus()

/** The head of the table stays below the news, however many lines these have. */
const news = find('.news')
const place = document.documentElement.style
new ResizeObserver(() => place.setProperty('--news', `${news.offsetHeight}px`)).observe(news)

const openMany = createMany({ onAdded: refreshAll, onRefusal: inTable })
find('#add-many').addEventListener('click', openMany)

const addition = find('#examples', HTMLButtonElement)
addition.addEventListener('click', () =>
  whileBusy(addition, () => addExamples({ onStart: hush, onDone: added, onRefusal: inForm })),
)

for (const form of ['csv', 'ndjson'] as const) {
  const button = find(`#export-${form}`, HTMLButtonElement)
  button.addEventListener('click', async () => {
    await whileBusy(button, () => exportPlants(form, { query: table.query(), onStart: hush, onRefusal: inTable }))
    closeMenu()
  })
}

/** Explains a refusal that concerns no field. Without a valid token, shows the token form again. */
function explain(refusal: unknown, place: string): void {
  if (!(refusal instanceof PlantStoreError)) throw refusal
  if (refusal.status === 401) access.forget(wordsOf(refusal))
  else say(find(place), toSentence(wordsOf(refusal)))
}

/** Clears the messages of earlier actions, which may no longer apply. */
function hush(): void {
  for (const place of ['#created', '#create-error', '#table-error', '#changed']) say(find(place), '')
}

/** @param isStep whether "back" returns to what was shown before. */
function openPlant(id: string | undefined, isStep: boolean): void {
  const { plant, ...view } = readView()
  if (id !== plant) writeView({ ...view, ...(id !== undefined && { plant: id }) }, placesBefore(), isStep)
  void plantView.show(id)
}

async function created(id: string): Promise<void> {
  await refreshAll()
  tellOf(id, '#created', `Plant ${id} was created.`)
}

/** Says what happened to a plant. If the table does not show the plant, says why, and leads to it. */
function tellOf(id: string, place: string, sentence: string): void {
  const why = may.read ? table.whyHidden(id) : ''
  say(find(place), sentence + why)
  if (why === '') return
  const link = make('a', '', 'Show it')
  link.href = `?plant=${id}`
  link.addEventListener('click', (event) => {
    event.preventDefault()
    openPlant(id, true)
  })
  find(place).append(' ', link)
}

async function refreshAll(): Promise<void> {
  if (may.read) await Promise.all([table.reload(), loadSummary()])
}

async function added(sentence: string): Promise<void> {
  await Promise.all([table.open(), loadSummary()])
  say(find('#created'), sentence)
  createdId.value = ''
  find('#plants-title').focus()
}

async function changed(id: bigint, action: DialogName, sentence: string): Promise<void> {
  await Promise.all([table.reloadAround(id, action), loadSummary()])
  const isEmpty = find('#plants').hidden
  if (action === 'edit') tellOf(String(id), '#changed', sentence)
  else say(find(isEmpty ? '#created' : '#changed'), sentence)
  if (isEmpty) createdId.focus()
}

async function loadSummary(): Promise<void> {
  try {
    const summary = await connectAside().getSummary()
    const isEmpty = summary.plants === 0
    find('#plants').hidden = isEmpty
    creation.welcome(isEmpty && may.write)
    tags.show(summary)
    table.showTotals(summary)
  } catch (refusal) {
    find('#plants').hidden = false
    tags.hide()
    table.showTotals(undefined)
    inTable(refusal)
  }
}

async function showChanges(changes: readonly Change[]): Promise<void> {
  const ids = changes.map(({ plant }) => plant.id)
  dialogs.noteChanges(ids)
  plantView.noteChanges(ids)
  creation.noteChanges(changes)
  await Promise.all([table.refresh(changes), loadSummary()])
}

/** Reads anew what could not be read while the server was away. */
async function recover(): Promise<void> {
  for (const place of document.querySelectorAll('.error')) if (place.textContent === unreachable) place.textContent = ''
  await showChanges([])
}

async function open(mayDo: May): Promise<void> {
  may = mayDo
  if (!may.read) return creation.open()
  await Promise.all([table.open(), loadSummary()])
  await plantView.show(readView().plant)
  live.start()
}

async function enter(mayDo: May): Promise<void> {
  await open(mayDo)
  // A person may have begun to type while the plants were loaded.
  const { activeElement } = document
  if (activeElement !== document.body && activeElement?.checkVisibility()) return
  const first = find('#creating').hidden ? find('#plants-title') : createdId
  first.focus()
}

addEventListener('popstate', () => {
  if (!may.read || token.get() === '') return
  void table.open()
  void plantView.show(readView().plant)
})

addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event
  const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
  if (isTyping || ctrlKey || metaKey || altKey || document.querySelector('dialog[open]') !== null) return
  if (key === '/' && may.read) find('#prefix').focus()
  else if (key === 'n' && may.write) creation.toggle()
  else return
  event.preventDefault()
})

if (access.takeToken()) {
  // It signs in by itself.
} else if (token.get() === '') access.ask()
else {
  try {
    await open(await access.open())
  } catch (refusal) {
    if (!(refusal instanceof PlantStoreError)) throw refusal
    access.forget(wordsOf(refusal))
  }
}
