// The home page: joins the token, the form that creates, the numbers, the table and its dialogs.

import { createAccess } from './access.js'
import { connect, token, wordsOf } from './api.js'
import { PlantStoreError } from './client.js'
import { createForm } from './create.js'
import { createDialogs } from './dialogs.js'
import { createExamples } from './examples.js'
import { byId, toSentence } from './form.js'
import { showSummary } from './summary.js'
import { createTable } from './table.js'

const inTable = (refusal) => explain(refusal, 'status')
const inForm = (refusal) => explain(refusal, 'create-error')

const access = createAccess({ onEnter: enter })
const table = createTable({
  onEdit: (plant) => edit(plant),
  onRemove: (plant) => remove(plant),
  onLoad: () => say('changed', ''),
  onRefusal: inTable,
})
const { edit, remove } = createDialogs({ onDone: changed, onRefusal: inTable })
createForm({ onCreated: created, onRefusal: inForm })
createExamples({ onDone: added, onRefusal: inForm })

/** A refusal of something that has no field. Without a valid token there is nothing to be seen here. */
function explain(refusal, place) {
  if (!(refusal instanceof PlantStoreError)) throw refusal
  if (refusal.status === 401) access.forget(refusal.message)
  else say(place, toSentence(wordsOf(refusal)))
}

function say(place, text) {
  byId(place).textContent = text
}

async function created(id) {
  await Promise.all([table.reload(), loadSummary()])
  say('created', `Plant ${id} was created.${table.whyHidden(id)}`)
}

async function added(sentence) {
  await Promise.all([table.search(), loadSummary()])
  say('created', sentence)
  byId('id').value = ''
  byId('plants-title').focus()
}

/** @param action what was done to the plant: `edit` or `remove`. */
async function changed(id, action, sentence) {
  await Promise.all([table.reloadAround(id, action), loadSummary()])
  const isEmpty = byId('plants').hidden
  say(isEmpty ? 'created' : 'changed', sentence)
  if (isEmpty) byId('id').focus()
}

async function loadSummary() {
  try {
    showSummary(await connect().getSummary(), table.filterByTag)
  } catch (refusal) {
    byId('plants').hidden = false
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
