// The home page: joins the token, the form that creates, the numbers, the table and its dialogs.

import { createAccess } from './access.js'
import { connect, token, wordsOf } from './api.js'
import { PlantStoreError } from './client.js'
import { createForm } from './create.js'
import { createDialogs } from './dialogs.js'
import { createExamples } from './examples.js'
import { byId, say, toSentence } from './form.js'
import { hideSummary, showSummary } from './summary.js'
import { createTable } from './table.js'

const inTable = (refusal) => explain(refusal, 'table-error')
const inForm = (refusal) => explain(refusal, 'create-error')

const access = createAccess({ onEnter: enter })
const table = createTable({
  onEdit: (plant, button) => edit(plant, button),
  onRemove: (plant, button) => remove(plant, button),
  onLoad: hush,
  onRefusal: inTable,
})
const { edit, remove } = createDialogs({ onStart: hush, onDone: changed, onRefusal: inTable })
createForm({ onStart: hush, onCreated: created, onRefusal: inForm })
createExamples({ onStart: hush, onDone: added, onRefusal: inForm })

/** A refusal of something that has no field. Without a valid token there is nothing to be seen here. */
function explain(refusal, place) {
  if (!(refusal instanceof PlantStoreError)) throw refusal
  if (refusal.status === 401) access.forget(refusal.message)
  else say(byId(place), toSentence(wordsOf(refusal)))
}

/** What was said of one action goes when the next begins: it may not be true any more. */
function hush() {
  for (const place of ['created', 'create-error', 'table-error', 'changed']) say(byId(place), '')
}

async function created(id, name) {
  await Promise.all([table.reload(), loadSummary()])
  say(byId('created'), `Plant ${id} was created.${name === '' ? ' Its name is empty.' : ''}${table.whyHidden(id)}`)
}

async function added(sentence) {
  await Promise.all([table.search(), loadSummary()])
  say(byId('created'), sentence)
  byId('id').value = ''
  byId('plants-title').focus()
}

/** @param action what was done to the plant: `edit` or `remove`. */
async function changed(id, action, sentence) {
  await Promise.all([table.reloadAround(id, action), loadSummary()])
  const isEmpty = byId('plants').hidden
  say(byId(isEmpty ? 'created' : 'changed'), sentence)
  if (isEmpty) byId('id').focus()
}

async function loadSummary() {
  try {
    showSummary(await connect().getSummary(), table.filterByTag)
  } catch (refusal) {
    byId('plants').hidden = false
    hideSummary()
    inTable(refusal)
  }
}

function open() {
  access.show()
  return Promise.all([table.search(), loadSummary()])
}

async function enter() {
  const opening = open()
  byId('id').focus()
  await opening
}

if (token.get() === '') access.ask()
else await open()
