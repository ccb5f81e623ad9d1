// The home page: connects the token, the forms, the tags, the table, the plant, the log and the keys.

import { type Access, createAccess, type May } from './access.js'
import { placesBefore, readView, writeView } from './address.js'
import { connectAside, isRefusal, token, wordsOf } from './api.js'
import type { Change } from './client.js'
import { createForm } from './create.js'
import { createEditDialog } from './edit.js'
import { addExamples } from './examples.js'
import { exportPlants } from './export.js'
import { find } from './find.js'
import { say, toSentence, whileBusy } from './form.js'
import { drawIcons } from './icons.js'
import { createLive } from './live.js'
import { clearLog } from './log.js'
import { createLogView } from './log-view.js'
import { make } from './make.js'
import { createMany } from './many.js'
import { closeMenu, createMenus } from './menus.js'
import { createPlantView } from './plant.js'
import { createRemoval } from './remove.js'
import { createTable } from './table.js'
import { createTags } from './tags.js'

const unreachable = 'The server cannot be reached; try again.'
let may: May = { read: false, write: false }
/** Settles once the server has said what the token may. */
let knowing = Promise.resolve(may)

const inTable = (refusal: unknown): void => explain(refusal, '#table-error')
const inForm = (refusal: unknown): void => explain(refusal, '#create-error')

drawIcons()
const access: Access = createAccess({
  onEnter: enter,
  onForget: () => {
    live.stop()
    clearLog()
    for (const dialog of document.querySelectorAll('dialog')) dialog.close()
  },
})
const tags = createTags((tag) => void table.filterByTag(tag))
const editing = createEditDialog({ onStart: hush, onDone: changed, onRefusal: inTable })
const removal = createRemoval({
  onStart: hush,
  onDeleted: (id, sentence) => changed(id, sentence, true),
  onRestored: changed,
  onRefusal: inTable,
})
const table = createTable({
  onEdit: editing.open,
  onRemove: removal.remove,
  onOpen: (id) => openPlant(id, true),
  onLoad: hush,
  onView: (view) => tags.choose(view.tag),
  onRefusal: inTable,
})
const plantView = createPlantView({
  onClose: () => openPlant(undefined, true),
  onRefusal: inTable,
  onEdit: editing.open,
  onRemove: removal.remove,
})
const live = createLive({ onChanges: showChanges, onBack: recover, onRefusal: inTable })
const creation = createForm({ mayRead: () => may.read, onStart: hush, onCreated: created, onRefusal: inForm })
createLogView()
createMenus()

/** The head of the table stays below the news, however many lines these have. */
const news = find('.news')
const place = document.documentElement.style
new ResizeObserver(() => place.setProperty('--news', `${news.offsetHeight}px`)).observe(news)

const openMany = createMany({ onAdded: refreshAll, onRefusal: inTable })
for (const opener of ['#add-many', '#welcome-many']) find(opener).addEventListener('click', openMany)

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
  if (!isRefusal(refusal)) throw refusal
  if (refusal.status === 401) access.forget(wordsOf(refusal))
  else say(find(place), toSentence(wordsOf(refusal)))
}

/** Clears the messages of earlier actions, which may no longer apply. */
function hush(): void {
  for (const place of ['#created', '#create-error', '#table-error', '#changed']) say(find(place), '')
  removal.forget()
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
  say(find('#changed'), sentence)
  creation.close()
  find('#plants-title').focus()
}

async function changed(id: bigint, sentence: string, isGone = false): Promise<void> {
  await Promise.all([table.reloadAround(id), loadSummary()])
  if (isGone) say(find('#changed'), sentence)
  else tellOf(String(id), '#changed', sentence)
  if (find('#plants').hidden) creation.focus()
}

async function loadSummary(): Promise<void> {
  try {
    const [summary, { write }] = await Promise.all([connectAside().getSummary(), knowing])
    const isEmpty = summary.plants === 0
    find('#plants').hidden = isEmpty
    creation.welcome(isEmpty && write)
    document.body.classList.toggle('empty', isEmpty && write)
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
  editing.noteChanges(ids)
  plantView.noteChanges(ids)
  creation.noteChanges(changes)
  await Promise.all([table.refresh(changes), loadSummary()])
}

/** Reads anew what could not be read while the server was away. */
async function recover(): Promise<void> {
  for (const place of document.querySelectorAll('.error')) if (place.textContent === unreachable) place.textContent = ''
  await showChanges([])
}

/** Shows the plants as soon as they are there, be it before the server has said what the token may. */
async function open(asked: Promise<May>): Promise<void> {
  knowing = asked
  const reading = Promise.all([table.open(), loadSummary()])
  may = await asked
  if (may.read) {
    await reading
    await plantView.show(readView().plant)
    live.start()
    return
  }
  await reading
  hush()
  creation.open()
}

async function enter(mayDo: May): Promise<void> {
  may = mayDo
  if (may.read) await open(Promise.resolve(may))
  else creation.open()
  // A person may have begun to type while the plants were loaded.
  const { activeElement } = document
  if (activeElement !== document.body && activeElement?.checkVisibility()) return
  if (find('#creating').hidden) find('#plants-title').focus()
  else creation.focus()
}

addEventListener('popstate', () => {
  if (!may.read || token.get() === '') return
  void table.open()
  void plantView.show(readView().plant)
})

addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event
  const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
  if (isTyping || altKey || document.querySelector('dialog[open]') !== null) return
  const isUndo = key === 'z' && (ctrlKey || metaKey)
  if (isUndo) void removal.undo()
  else if (ctrlKey || metaKey) return
  else if (key === '/' && may.read) find('#prefix').focus()
  else if (key === 'n' && may.write) creation.toggle()
  else if (key === '?') showKeys()
  else if (key === 'ArrowDown' && target === document.body) table.focus()
  else return
  event.preventDefault()
})

function showKeys(): void {
  closeMenu()
  find('#keys', HTMLDialogElement).showModal()
}
find('#help').addEventListener('click', showKeys)

if (access.takeToken()) {
  // It signs in by itself.
} else if (token.get() === '') access.ask()
else {
  try {
    await open(access.open())
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal
    access.forget(wordsOf(refusal))
  }
}
