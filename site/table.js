// The table of plants: searched as one types, a page at a time.

import { send } from './api.js'
import { byId } from './form.js'

const pagePlants = 25
const typingPauseMs = 150
/** Pages without a match that are passed over before the reader is asked whether to go on. */
const emptyPagesMax = 20

/**
 * Shows plants in the table.
 *
 * @param onEdit, onRemove told the plant whose button was pressed.
 * @param onRefusal told what the server refused.
 */
export function createTable({ onEdit, onRemove, onRefusal }) {
  const [prefix, tagFilter, status] = [byId('prefix'), byId('tag-filter'), byId('status')]
  const [first, next] = [byId('first'), byId('next')]
  const rows = byId('table').tBodies[0]
  let newest = 0
  let nextQuery
  let timer

  const queryOf = () => {
    const query = new URLSearchParams({ limit: String(pagePlants) })
    if (prefix.value !== '') query.set('name', prefix.value)
    if (tagFilter.value !== '') query.set('tag', tagFilter.value)
    return `?${query}`
  }

  /** Shows a page, unless a newer one is wanted by then. */
  async function load(query = queryOf(), isFirst = true) {
    newest += 1
    const mine = newest
    try {
      let [plants, from] = [[], query]
      for (let pages = 0; plants.length === 0 && from !== undefined && pages < emptyPagesMax; pages += 1) {
        const { body, headers } = await send({ path: `plants${from}` })
        if (mine !== newest) return
        plants = body
        const link = /^<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
        from = link === undefined ? undefined : new URL(link, document.baseURI).search
      }
      nextQuery = from
      rows.replaceChildren(...plants.map(toRow))
      first.disabled = isFirst
      next.disabled = nextQuery === undefined
      status.textContent = describe(plants.length, nextQuery !== undefined, prefix.value + tagFilter.value !== '')
    } catch (refusal) {
      if (mine === newest) onRefusal(refusal)
    }
  }

  function toRow(plant) {
    const row = document.createElement('tr')
    for (const text of [plant.id, plant.name, plant.tag ?? '']) row.insertCell().textContent = text
    const actions = document.createElement('div')
    actions.className = 'actions'
    actions.append(
      button('Edit', `Edit plant ${plant.id}`, () => onEdit(plant)),
      button('Delete', `Delete plant ${plant.id}`, () => onRemove(plant)),
    )
    row.insertCell().append(actions)
    return row
  }

  byId('search').addEventListener('submit', (event) => event.preventDefault())
  for (const input of [prefix, tagFilter]) {
    input.addEventListener('input', () => {
      clearTimeout(timer)
      timer = setTimeout(load, typingPauseMs)
    })
  }
  first.addEventListener('click', () => load())
  next.addEventListener('click', () => load(nextQuery, false))

  return {
    load: () => load(),
    filterByTag: (tag) => {
      tagFilter.value = tag
      return load()
    },
  }
}

function describe(count, hasMore, isFiltered) {
  if (count === 0 && !hasMore && !isFiltered) return ''
  if (count === 0) return hasMore ? 'Nothing found yet. The next page continues the search.' : 'No plant matches.'
  const plants = count === 1 ? '1 plant' : `${count} plants`
  return hasMore ? `${plants} on this page; there are more.` : `${plants} on this page, which is the last.`
}

function button(text, label, onClick) {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = text
  made.ariaLabel = label
  made.addEventListener('click', onClick)
  return made
}
