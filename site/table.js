// The table of plants: searched as one types, a page at a time.

import { connect } from './api.js'
import { byId, whileBusy } from './form.js'
import { shown } from './plant-text.js'
import { putText, textIn } from './text-field.js'

const pagePlants = 25
const typingPauseMs = 150
/** Pages without a match that are passed over before the reader is asked whether to go on. */
const emptyPagesMax = 20
/** Shown as cards on a phone, elements of a table would no longer be those of a table to a screen reader. */
const roles = { table: 'table', thead: 'rowgroup', tbody: 'rowgroup', tr: 'row', th: 'columnheader', td: 'cell' }

/**
 * Shows plants in the table.
 *
 * @param onEdit, onRemove told the plant whose button was pressed, and the button.
 * @param onLoad called before another page is shown.
 * @param onRefusal told what the server refused.
 */
export function createTable({ onEdit, onRemove, onLoad, onRefusal }) {
  const [form, prefix, clear] = [byId('search'), byId('prefix'), byId('clear')]
  const [first, previous, next] = [byId('first'), byId('previous'), byId('next')]
  const rows = byId('table').tBodies[0]
  giveRoles(byId('table'))
  let newest = 0
  /** The queries of the pages up to this one: a page knows the next one alone. */
  let pages = []
  let nextQuery
  let timer

  const isFiltered = () => prefix.value + textIn(form, 'tagFilter') !== ''
  const queryOf = () => {
    const [name, tag] = [prefix.value, textIn(form, 'tagFilter')]
    return { limit: pagePlants, ...(name !== '' && { name }), ...(tag !== '' && { tag }) }
  }

  function putFilters(tag) {
    prefix.value = ''
    putText(form, 'tagFilter', tag)
  }

  function search() {
    clearTimeout(timer)
    return show([queryOf()])
  }

  /** Shows the last of the pages, unless a newer one is wanted by then. */
  async function show(wanted) {
    newest += 1
    const mine = newest
    onLoad()
    try {
      let [plants, from] = [[], wanted.at(-1)]
      for (let passed = 0; plants.length === 0 && from !== undefined && passed < emptyPagesMax; passed += 1) {
        const { value: page } = await connect().listPlants(from).pages().next()
        if (mine !== newest) return
        plants = page.plants
        from = page.next === undefined ? undefined : { ...from, after: page.next }
      }
      pages = wanted
      nextQuery = from
      rows.replaceChildren(...plants.map(toRow))
      showPlace(plants.length)
    } catch (refusal) {
      if (mine === newest) onRefusal(refusal)
    }
  }

  function showPlace(count) {
    showPager()
    clear.hidden = !isFiltered()
    byId('status').textContent = describe(count, pages.length, nextQuery !== undefined)
  }

  function showPager() {
    first.disabled = pages.length === 1
    previous.disabled = pages.length === 1
    next.disabled = nextQuery === undefined
    byId('pager').hidden = first.disabled && next.disabled
  }

  /** Another page is read from its top, where the keyboard goes on, too. */
  async function turnTo(button, wanted) {
    await whileBusy(button, () => show(wanted))
    showPager()
    toTop()
  }

  function toTop() {
    byId('table').focus({ preventScroll: true })
    byId('table').scrollIntoView()
  }

  function toRow(plant) {
    const row = document.createElement('tr')
    row.dataset.id = plant.id
    row.insertCell().textContent = plant.id
    row.insertCell().append(shown(plant.name))
    row.insertCell().append(...(plant.tag === undefined ? [] : [shown(plant.tag)]))
    const actions = document.createElement('div')
    actions.className = 'actions'
    actions.append(
      button('edit', 'Edit', plant.id, (button) => onEdit(plant, button)),
      button('remove', 'Delete', plant.id, (button) => onRemove(plant, button)),
    )
    row.insertCell().append(actions)
    giveRoles(row)
    return row
  }

  const rowOf = (id) => [...rows.rows].find((row) => row.dataset.id === String(id))

  /** Shows the same page again, or the one before it when nothing is left there. */
  async function reload() {
    if (JSON.stringify(pages[0]) !== JSON.stringify(queryOf())) return search()
    await show(pages)
    while (rows.rows.length === 0 && nextQuery === undefined && pages.length > 1) await show(pages.slice(0, -1))
  }

  /** The same after something was done to a plant; the keyboard stays with the plant, or with the one in its place. */
  async function reloadAround(id, action) {
    const place = rowOf(id)?.rowIndex ?? 0
    await reload()
    if (document.activeElement !== document.body) return
    const row = rowOf(id) ?? byId('table').rows[Math.min(place, rows.rows.length)]
    const target = row?.querySelector(`[data-action="${action}"]`) ?? byId('plants-title')
    target.focus()
  }

  /** Why a plant that there is cannot be seen, as a sentence to be put after another. */
  function whyHidden(id) {
    if (rowOf(id) !== undefined) return ''
    if (!isFiltered()) return ' It is on another page of the table below.'
    return pages.length === 1 && nextQuery === undefined
      ? ' The search below does not show it.'
      : ' This page of the search below does not show it.'
  }

  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(search, typingPauseMs)
  })
  clear.addEventListener('click', () => {
    putFilters('')
    prefix.focus()
    return whileBusy(clear, search)
  })
  first.addEventListener('click', () => turnTo(first, pages.slice(0, 1)))
  previous.addEventListener('click', () => turnTo(previous, pages.slice(0, -1)))
  next.addEventListener('click', () => turnTo(next, [...pages, nextQuery]))

  return {
    search,
    reload,
    reloadAround,
    whyHidden,
    filterByTag: async (tag) => {
      putFilters(tag)
      await search()
      toTop()
    },
  }
}

function describe(count, page, hasMore) {
  if (count === 0 && hasMore) return 'Nothing found yet. The next page continues the search.'
  if (count === 0) return page === 1 ? 'No plant matches.' : 'There are no more plants.'
  const plants = count === 1 ? '1 plant' : `${count} plants`
  return page === 1 && !hasMore ? plants : `Page ${page}: ${plants}`
}

function giveRoles(part) {
  for (const element of [part, ...part.querySelectorAll('*')]) {
    const role = roles[element.localName]
    if (role !== undefined) element.role = role
  }
}

function button(action, text, id, onClick) {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = text
  made.ariaLabel = `${text} plant ${id}`
  made.dataset.action = action
  made.addEventListener('click', () => onClick(made))
  return made
}
