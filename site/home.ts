// The home page: connects the token, the create form, the summary, the table and its dialogs.

import { createAccess } from './access.js'
import { connect, token, wordsOf } from './api.js'
import { type Change, PlantStoreError } from './client.js'
import { createForm } from './create.js'
import { createDialogs, type DialogName } from './dialogs.js'
import { createExamples } from './examples.js'
import { find } from './find.js'
import { say, toSentence } from './form.js'
import { createLive } from './live.js'
import { hideSummary, showSummary } from './summary.js'
import { createTable } from './table.js'

const createdId = find('#id', HTMLInputElement)

const inTable = (refusal: unknown): void => explain(refusal, '#table-error')
const inForm = (refusal: unknown): void => explain(refusal, '#create-error')

const access = createAccess({ onEnter: enter, onForget: () => live.stop() })
const table = createTable({
  onEdit: (plant, button) => dialogs.edit(plant, button),
  onRemove: (plant, button) => dialogs.remove(plant, button),
  onLoad: hush,
  onRefusal: inTable,
})
const dialogs = createDialogs({ onStart: hush, onDone: changed, onRefusal: inTable })
const live = createLive({ onChanges: showChanges })
createForm({ onStart: hush, onCreated: created, onRefusal: inForm })
createExamples({ onStart: hush, onDone: added, onRefusal: inForm })

/** Explains a refusal that concerns no field. Without a valid token, shows the token form again. */
function explain(refusal: unknown, place: string): void {
  if (!(refusal instanceof PlantStoreError)) throw refusal
  if (refusal.status === 401) access.forget(refusal.message)
  else say(find(place), toSentence(wordsOf(refusal)))
}

/** Clears the messages of earlier actions, which may no longer apply. */
function hush(): void {
  for (const place of ['#created', '#create-error', '#table-error', '#changed']) say(find(place), '')
}

async function created(id: string, name: string): Promise<void> {
  await Promise.all([table.reload(), loadSummary()])
  const note = name === '' ? ' Its name is empty.' : ''
  say(find('#created'), `Plant ${id} was created.${note}${table.whyHidden(id)}`)
}

async function added(sentence: string): Promise<void> {
  await Promise.all([table.search(), loadSummary()])
  say(find('#created'), sentence)
  createdId.value = ''
  find('#plants-title').focus()
}

async function changed(id: bigint, action: DialogName, sentence: string): Promise<void> {
  await Promise.all([table.reloadAround(id, action), loadSummary()])
  const isEmpty = find('#plants').hidden
  say(find(isEmpty ? '#created' : '#changed'), sentence)
  if (isEmpty) createdId.focus()
}

async function loadSummary(): Promise<void> {
  try {
    showSummary(await connect().getSummary(), table.filterByTag)
  } catch (refusal) {
    find('#plants').hidden = false
    hideSummary()
    inTable(refusal)
  }
}

async function showChanges(changes: readonly Change[]): Promise<void> {
  dialogs.noteChanges(changes.map(({ plant }) => plant.id))
  await Promise.all([table.refresh(), loadSummary()])
}

async function open(): Promise<void> {
  access.show()
  await Promise.all([table.search(), loadSummary()])
  live.start()
}

async function enter(): Promise<void> {
  const opening = open()
  createdId.focus()
  await opening
}

if (token.get() === '') access.ask()
else await open()
