// The form that creates a plant, and the request and the answer that were exchanged for it.

import { connect, curl, plantOf, wordsOf } from './api.js'
import { byId, clearRefusal, isFilledIn, onSubmit, showRefusal } from './form.js'

const idMax = 2n ** 63n - 1n
/** What a reader looks for first. */
const foremost = ['location', 'content-type']

const [form, error] = [byId('create'), byId('create-error')]

/**
 * @param onStart called before a plant is sent.
 * @param onCreated told the id and the name of a plant that was created.
 * @param onRefusal told of a refusal that is not about the plant.
 */
export function createForm({ onStart, onCreated, onRefusal }) {
  onSubmit(form, create)

  async function create() {
    clearRefusal(form, error)
    onStart()
    if (!isFilledIn(form)) return
    const [id, name, tag] = ['id', 'name', 'tag'].map((field) => form.elements.namedItem(field).value)
    try {
      await connect({ fetch: fetchAndShow }).createPlant(plantOf({ id: id.trim(), name, tag }))
      form.reset()
      suggestAfter(id.trim())
      await onCreated(id.trim(), name)
    } catch (refusal) {
      if (refusal.status === 401) onRefusal(refusal)
      else showRefusal(form, wordsOf(refusal), error)
    }
  }
}

function suggestAfter(id) {
  const next = BigInt(id) + 1n
  byId('id').value = next > idMax ? '' : String(next)
  byId(next > idMax ? 'id' : 'name').focus()
}

async function fetchAndShow(url, request) {
  const response = await fetch(url, request)
  byId('exchange').hidden = false
  byId('request').textContent = curl({ url, ...request })
  byId('answer').textContent =
    `HTTP ${response.status}\n${fieldsOf(response.headers)}\n\n${await response.clone().text()}`
  return response
}

function fieldsOf(headers) {
  const rank = ([name]) => (foremost.indexOf(name) + foremost.length + 1) % (foremost.length + 1)
  return [...headers]
    .sort((one, other) => rank(one) - rank(other))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

byId('copy').addEventListener('click', async ({ currentTarget: button }) => {
  try {
    // Only pages by https, and those of this machine, have a clipboard, and a browser may refuse it.
    await navigator.clipboard.writeText(byId('request').textContent)
    button.textContent = 'Copied'
  } catch {
    getSelection().selectAllChildren(byId('request'))
    button.textContent = 'Press Ctrl+C'
  }
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 2_500)
})
