// The home page: the token, the first plant, the form that creates, the numbers and the table.

import { curl, exchange, plantJson, Refusal, send, token } from './api.js'
import { createDialogs } from './dialogs.js'
import { byId, clearRefusal, showRefusal, tell, whileBusy } from './form.js'
import { createTable } from './table.js'

const barsMax = 12
const examplesAtOnce = 6

const table = createTable({ onEdit: (plant) => edit(plant), onRemove: (plant) => remove(plant), onRefusal: explain })
const { edit, remove } = createDialogs({ onDone: changed, onRefusal: explain })

/** A refusal of something that has no form. Without a valid token there is nothing to be seen here. */
function explain(refusal) {
  if (!(refusal instanceof Refusal)) throw refusal
  if (refusal.status === 401) forget(refusal.message)
  else byId('status').textContent = refusal.message
}

async function changed(sentence) {
  await Promise.all([table.load(), loadSummary()])
  byId('status').textContent = sentence
  // The button that was pressed may be gone.
  if (document.activeElement === document.body) byId('plants-title').focus()
}

async function loadSummary() {
  try {
    const { body } = await send({ path: 'summary' })
    showSummary(body)
  } catch (refusal) {
    explain(refusal)
  }
}

function showSummary({ plants, tags, isExact }) {
  const number = plants.toLocaleString('en')
  byId('count').textContent = `${isExact ? '' : 'About '}${number} ${plants === 1 ? 'plant' : 'plants'} in the store.`
  byId('welcome').hidden = plants > 0
  if (plants === 0 && byId('id').value === '') byId('id').value = '1'
  const most = Math.max(...tags.map((tag) => tag.plants), 1)
  byId('bars').replaceChildren(...tags.slice(0, barsMax).map((tag) => toBar(tag, most)))
  byId('tags').replaceChildren(...tags.map(({ tag }) => new Option(tag, tag)))
}

function toBar({ tag, plants }, most) {
  const [item, button, bar] = ['li', 'button', 'span'].map((name) => document.createElement(name))
  button.type = 'button'
  button.textContent = tag === '' ? '(empty)' : tag
  button.title = `Show the plants with the tag ${tag}`
  button.disabled = tag === ''
  button.addEventListener('click', () => table.filterByTag(tag))
  bar.textContent = plants.toLocaleString('en')
  bar.style.setProperty('--share', String(plants / most))
  item.append(button, bar)
  return item
}

byId('create').addEventListener('submit', (event) => {
  event.preventDefault()
  void whileBusy(event.currentTarget, () => create(byId('create')))
})

async function create(form) {
  const error = byId('create-error')
  clearRefusal(form, error)
  const [id, name, tag] = ['id', 'name', 'tag'].map((field) => form.elements.namedItem(field).value)
  const request = { method: 'POST', path: 'plants', body: plantJson({ id: id.trim(), name, tag }) }
  try {
    const { status, headers, text, body } = await exchange(request)
    showExchange(curl(request), `HTTP ${status}\n${fieldsOf(headers)}\n\n${text}`)
    if (status === 401) throw new Refusal(status, body.message)
    if (status !== 200) return showRefusal(form, body.message, error)
    form.reset()
    byId('id').value = String(BigInt(id.trim()) + 1n)
    byId('name').focus()
    await changed(`Plant ${id.trim()} was created.`)
  } catch (refusal) {
    if (refusal.status === 401) explain(refusal)
    else showRefusal(form, refusal.message, error)
  }
}

function showExchange(request, answer) {
  byId('exchange').hidden = false
  byId('request').textContent = request
  byId('answer').textContent = answer
}

function fieldsOf(headers) {
  return [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
}

byId('copy').addEventListener('click', async ({ currentTarget: button }) => {
  const text = byId('request').textContent
  // Only pages by https, and those of this machine, may use the clipboard.
  if (navigator.clipboard === undefined) {
    getSelection().selectAllChildren(byId('request'))
    return
  }
  await navigator.clipboard.writeText(text)
  button.textContent = 'Copied'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1_500)
})

byId('examples').addEventListener('click', async ({ currentTarget: button }) => {
  const progress = byId('examples-progress')
  button.disabled = true
  progress.hidden = false
  try {
    const lines = (await (await fetch('site/houseplants.ndjson')).text()).trim().split('\n')
    progress.max = lines.length
    let started = 0
    const addSome = async () => {
      while (started < lines.length) {
        const body = lines[started]
        started += 1
        const { status, body: answer } = await exchange({ method: 'POST', path: 'plants', body })
        // A plant that is there already is one that an earlier click has added.
        if (status !== 200 && status !== 409)
          throw new Refusal(status, answer?.message ?? `the server answered ${status}`)
        progress.value += 1
      }
    }
    await Promise.all(Array.from({ length: examplesAtOnce }, addSome))
    byId('id').value = ''
    await changed(`${lines.length} example plants were added.`)
  } catch (refusal) {
    explain(refusal)
  } finally {
    button.disabled = false
    progress.hidden = true
    progress.value = 0
  }
})

byId('token-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void whileBusy(event.currentTarget, () => enter(byId('secret').value.trim()))
})
byId('forget').addEventListener('click', () => forget(''))

/** Keeps a token once the server has admitted it. */
async function enter(secret) {
  try {
    await send({ path: 'summary', secret })
  } catch (refusal) {
    tell(byId('secret'), refusal.message)
    byId('secret').focus()
    return
  }
  token.keep(secret)
  byId('secret').value = ''
  clearRefusal(byId('token-form'), byId('secret-error'))
  await open()
}

function forget(reason) {
  token.forget()
  byId('store').hidden = true
  byId('token-known').hidden = true
  byId('token-form').hidden = false
  if (reason !== '') tell(byId('secret'), reason)
  byId('secret').focus()
}

async function open() {
  byId('token-form').hidden = true
  byId('token-known').hidden = false
  byId('store').hidden = false
  await Promise.all([table.load(), loadSummary()])
}

if (token.get() === '') byId('secret').focus()
else await open()
