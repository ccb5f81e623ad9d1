// The home page: connects the token, the forms, the tags, the table, the plant, the log and the keys.

import { askForToken, forget, openStore, startAccess, takeToken } from './access.js'
import { readView } from './address.js'
import { connectAside, isRefusal, wordsOf } from './api.js'
import type { Change, StoredPlant } from './client.js'
import { closeForm, focusForm, openForm, showWelcome, startForm, toggleForm } from './create.js'
import { remove, restore, undoLast } from './deletions.js'
import { edit, noteChangesOfEdited, startEditing } from './edit.js'
import { attempts, copy, find, isField, remember } from './elements.js'
import { exportPlants } from './files.js'
import { whileBusy } from './form.js'
import { followChanges, readLater, showAfter, startLive, stopLive, tellAway } from './live.js'
import { clearLog } from './log.js'
import { addExamples, openMany, startMany } from './many.js'
import { closeMenu } from './menus.js'
import { announce, closeToast, explain, hush, isSaid } from './messages.js'
import { noteChangesOfShown, openPlant, plantShown, showInPanel, showPlant } from './plant.js'
import { findRow, focusFirst, plantInRow, updateRow } from './rows.js'
import { filterByTag, openTable, refresh, refreshAll, searched, showAll, showsView, showTotals } from './table.js'
import { may, token } from './token.js'

const unreachable = 'The server cannot be reached; try again.'
/** Settles once the server has said what the token may. */
let knowing = Promise.resolve()
/** The dialog with what was typed when the token was refused. */
let interrupted: HTMLDialogElement | undefined

startAccess(enter, () => {
  stopLive()
  clearLog()
  interrupted = document.querySelector<HTMLDialogElement>('#edit[open], #many[open]') ?? interrupted
  for (const dialog of document.querySelectorAll('dialog')) dialog.close()
  closeToast()
})
startEditing(changed)
startForm(changed)
startLive(showChanges, recover)
startMany(added)

/** What the buttons with `data-action` do; the value of a button says with what. Refusals are explained. */
const actions: Readonly<Record<string, (button: HTMLButtonElement) => unknown>> = {
  all: showAll,
  close: (button) => button.closest('dialog')?.close(),
  copy: (button) => copy(button.value, button, button),
  edit: (button) => edit(plantOf(button)),
  examples: (button) => whileBusy(button, () => showAfter(addExamples())),
  export: (button) => whileBusy(button, () => exportPlants(button.value, searched())).finally(closeMenu),
  keys: () => find('#keys', HTMLDialogElement).showModal(),
  many: openMany,
  named: (button) => openForm(button.value),
  open: (button) => openPlant(button.value),
  remove: (button) => remove(plantOf(button), readAnew),
  restore: (button) => whileBusy(button, () => restore(plantOf(button), changed)),
  tag: (button) => filterByTag(button.value),
  tagged: (button) => filterByTag(button.value, ''),
  undo: () => undoLast(changed),
}
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-action]') : null
  if (!(button instanceof HTMLButtonElement)) return
  try {
    await actions[button.dataset['action'] ?? '']?.(button)
  } catch (refusal) {
    explain(refusal)
  }
})

/** The place in the table stays above the log, however high this is. */
const foot = find('#foot')
const page = document.documentElement.style
new ResizeObserver(() => page.setProperty('--log', `${foot.offsetHeight}px`)).observe(foot)

async function added(): Promise<void> {
  await readAnew()
  closeForm()
  find('#plants-title').focus()
}

/** Returns whether the table shows the plants as they are. */
async function readAnew(): Promise<boolean> {
  const [isShown] = may.read ? await Promise.all([refreshAll(), loadSummary()]) : [false]
  if (document.body.matches('.empty')) focusForm()
  return isShown
}

/** Shows a plant that was created or changed, and says what happened. Offers to open one that is on another page. */
async function changed(plant: StoredPlant, sentence: string): Promise<void> {
  const { id } = plant
  updateRow(plant)
  void showInPanel(plant)
  announce(sentence)
  const isShown = await readAnew()
  const row = findRow(id)
  row?.classList.add('fresh')
  row?.scrollIntoView({ block: 'nearest' })
  if (isShown && row === undefined && plantShown(id) === undefined && isSaid(sentence)) announce(sentence, id)
}

/** The plant of a button, in the panel or in a row. */
function plantOf({ value }: HTMLButtonElement): StoredPlant {
  const plant = plantShown(BigInt(value)) ?? plantInRow(BigInt(value))
  if (plant === undefined) throw new TypeError(`the page shows no plant ${value}`)
  return plant
}

const beginSummary = attempts()

async function loadSummary(): Promise<void> {
  const isNewest = beginSummary()
  try {
    const [summary] = await Promise.all([connectAside().getSummary(), knowing])
    if (!isNewest()) return
    showWelcome(summary.plants === 0 && may.write)
    showTotals(summary)
  } catch (refusal) {
    showWelcome(false)
    showTotals(undefined)
    readLater(refusal)
    explain(refusal)
  }
}

async function showChanges(changes: readonly Change[]): Promise<void> {
  const ids = changes.map(({ plant }) => plant.id)
  noteChangesOfEdited(ids)
  void noteChangesOfShown(ids)
  await Promise.all([refresh(changes), loadSummary()])
}

/** Reads anew what could not be read while the server was away. */
async function recover(): Promise<void> {
  for (const place of document.querySelectorAll('.error')) if (place.textContent === unreachable) place.textContent = ''
  await showChanges([])
}

/** Tries until the server has said what the token may. */
async function start(opening: Promise<void>): Promise<void> {
  try {
    await opening
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal
    if (refusal.status === 401) return forget(wordsOf(refusal))
    tellAway()
    setTimeout(() => token.get() !== '' && start(openStore().then(() => open(Promise.resolve()))), 5_000)
  }
}

/** Shows the plants as soon as they are there, be it before the server has said what the token may. */
async function open(asked: Promise<void>): Promise<void> {
  knowing = asked
  await Promise.all([asked, openTable(), loadSummary()])
  if (may.read) {
    await showPlant(readView().plant)
    return followChanges()
  }
  hush()
  openForm()
}

async function enter(): Promise<void> {
  if (may.read) await open(Promise.resolve())
  else openForm()
  if (may.write) interrupted?.showModal()
  interrupted = undefined
  // A person may have begun to type while the plants were loaded.
  const { activeElement } = document
  if (activeElement !== document.body && activeElement?.checkVisibility()) return
  if (find('#creating').hidden) find('#plants-title').focus()
  else focusForm()
}

addEventListener('popstate', () => {
  if (!may.read || token.get() === '') return
  if (!showsView(readView())) void openTable()
  void showPlant(readView().plant)
})

/** Single keys can be switched off, for those who speak or press them by accident. */
const shortcuts = find('#shortcuts', HTMLInputElement)
remember(shortcuts, 'plantstore-shortcuts')

/** Where the key was pressed that is held. */
let pressedIn: EventTarget | null = null

/** A key that is held acts once, where it was pressed. Moving and typing go on. */
function onHeldKey(event: KeyboardEvent): void {
  const { target, key, repeat } = event
  if (!repeat) pressedIn = target
  const isTyping = isField(target) && target === pressedIn && (key !== 'Enter' || target instanceof HTMLTextAreaElement)
  if (!repeat || isTyping || /^(?:Arrow|Page|Tab)/.test(key)) return
  event.preventDefault()
  event.stopImmediatePropagation()
}
addEventListener('keydown', onHeldKey, true)

/** The field in which a person has typed since it has the focus. */
let typedIn: EventTarget | null = null
addEventListener('input', ({ target }) => {
  typedIn = target
})
addEventListener('focusin', () => {
  typedIn = null
})

addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey } = event
  const undo = find('#undo', HTMLButtonElement)
  const isUndo = key === 'z' && (ctrlKey || metaKey) && may.write
  // A field in which nothing was typed has nothing of its own to undo.
  const isTyping = isField(target) && !(isUndo && undo.title !== '' && target.value === '' && target !== typedIn)
  const isElsewhere = token.get() === '' || document.querySelector('dialog:modal, .menu[open]') !== null
  if (isTyping || altKey || isElsewhere) return
  if (isUndo) void undoLast(changed).catch(explain)
  else if (ctrlKey || metaKey || (!shortcuts.checked && /^[/n?]$/.test(key))) return
  else if (key === '/' && may.read) find('#prefix').focus()
  else if (key === 'n' && may.write) toggleForm()
  else if (key === '?') find('#help').click()
  else if (key === 'ArrowDown' && (target as Element).matches('body, #plants-title, #table')) focusFirst()
  else return
  event.preventDefault()
})

if (takeToken()) {
  // It signs in by itself.
} else if (token.get() === '') askForToken()
else await start(open(openStore()))
