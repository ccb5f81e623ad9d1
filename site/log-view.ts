// The drawer with the requests of this page: a list, and the one that is open.

import { base } from './api.js'
import { type Child, copy, fill, find, make, makeButton, scrollable } from './elements.js'
import { jsonNodes } from './json-view.js'
import { type Exchange, type HeaderField, logged, watchLog } from './log.js'
import { escaped } from './plant-text.js'
import { type Sent, snippets } from './snippets.js'

/** What header fields of a request or an answer mean for a person. Others are folded. */
const meanings: Readonly<Record<string, string>> = {
  accept: 'The media type that the client wants.',
  'idempotency-key': 'Repeat the request with this key within 24 hours: nothing is created twice.',
  'if-match': 'Change the plant only if it still has this ETag.',
  'if-none-match': 'Send the plant only if it no longer has this ETag.',
  location: 'Where the new plant is.',
  etag: 'The version of the plant. Send it as If-Match to change the plant only if nobody else has.',
  link: 'Where the next page is.',
  'idempotency-replayed': 'The response of an earlier try: nothing was created twice.',
  'retry-after': 'Seconds to wait before the next try.',
  'www-authenticate': 'Which token the request needs.',
  'x-request-id': "The name of this request in the server's log.",
}

const answerCharactersMax = 200_000

const log = find('#log')
const toggle = find('#log-toggle', HTMLButtonElement)
const panel = find('#log-panel')
const list = find('#log-list')
const detail = find('#log-detail')
const aside = find('#log-aside', HTMLInputElement)
const developer = find('#developer', HTMLInputElement)
const developerKey = 'plantstore-requests'
const items = new WeakMap<Exchange, HTMLLIElement>()
let open: Exchange | undefined
let openedState = ''
let isDue = false

toggle.addEventListener('click', () => {
  panel.hidden = !panel.hidden
  toggle.ariaExpanded = String(!panel.hidden)
  draw()
})
aside.addEventListener('change', draw)
// On a phone there is no room for them, unless a person wants it.
const wanted = localStorage.getItem(developerKey) ?? String(matchMedia('(min-width: 43rem)').matches)
developer.checked = wanted === 'true'
developer.addEventListener('change', () => {
  localStorage.setItem(developerKey, String(developer.checked))
  draw()
})
panel.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return
  toggle.click()
  toggle.focus()
})
watchLog(() => {
  if (isDue) return
  isDue = true
  // Many requests at once are drawn once.
  setTimeout(draw, 16)
})

function draw(): void {
  isDue = false
  // Once there is an answer again, that there was none is history.
  const answered = logged.findIndex(({ status }) => status !== undefined)
  const newest = logged.find(({ isAside, failure }, at) => !isAside && (failure === undefined || at <= answered))
  log.hidden = newest === undefined || !developer.checked
  find('#log-last').replaceChildren(...(newest === undefined ? [] : lineOf(newest)))
  if (panel.hidden) return
  const wanted = logged.filter(({ isAside }) => aside.checked || !isAside).map(itemOf)
  for (const item of [...list.children]) if (!wanted.includes(item as HTMLLIElement)) item.remove()
  // An item that stays is not moved, because its button may have the focus.
  for (const [at, item] of wanted.entries())
    if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null)
  if (open !== undefined) showDetail(open)
}

/** The same element each time. */
function itemOf(exchange: Exchange): HTMLLIElement {
  const item =
    items.get(exchange) ??
    make(
      'li',
      makeButton('', () => choose(exchange)),
    )
  items.set(exchange, item)
  const button = find('button', HTMLButtonElement, item)
  button.ariaPressed = String(exchange === open)
  const time = exchange.startedAt.toLocaleTimeString('en', { hour12: false })
  button.replaceChildren(...lineOf(exchange), make('time.hint', time))
  return item
}

function choose(exchange: Exchange): void {
  open = exchange
  openedState = ''
  draw()
  detail.scrollTop = 0
}

function lineOf(exchange: Exchange): Node[] {
  const { method, url, ms } = exchange
  return [
    make('b', method),
    make('bdi.path', `/${url.pathname.slice(base.pathname.length)}${url.search}`),
    statusOf(exchange),
    make('span.hint.ms', ms === undefined ? '' : `${Math.round(ms)} ms`),
  ]
}

function statusOf({ status, phrase, failure }: Exchange): HTMLElement {
  if (failure !== undefined) return make('span.status-5', failure)
  if (status === undefined) return make('span.hint', 'sending')
  return make(`span.status-${String(status).charAt(0)}`, `${status} ${phrase}`)
}

function showDetail(exchange: Exchange): void {
  const { answer, answerFields = [], status, failure, body, fields } = exchange
  const state = `${exchange.startedAt.getTime()} ${status} ${failure} ${answer?.length}`
  if (state === openedState) return
  openedState = state
  detail.replaceChildren()
  fill(
    detail,
    make('h3', lineOf(exchange)),
    answerOf(answer, status),
    fieldsOf('Response', answerFields),
    body !== undefined && [make('h4', 'Request: body'), make('pre', jsonNodes(body))],
    fieldsOf('Request', fields),
    make('h4', 'Send it yourself'),
    hasChangedPlant(exchange) && make('p.hint', staleMatch),
    snippetsOf(exchange),
  )
}

function answerOf(answer: string | undefined, status: number | undefined): Child {
  if (answer === undefined) {
    return make('p.hint', status === undefined ? 'There is no response yet.' : 'A stream of events.')
  }
  if (answer === '') return make('p.hint', 'The response has no body.')
  const isLong = answer.length > answerCharactersMax
  const seen = isLong ? escaped(answer.slice(0, answerCharactersMax)) : jsonNodes(answer)
  return [
    make('h4', 'Response: body'),
    make('pre', scrollable('Body of the response'), seen),
    isLong && make('p.hint', `The first ${answerCharactersMax} of ${answer.length} characters.`),
  ]
}

const staleMatch =
  'If-Match has the ETag before this change: sent again, the request gets 412. Opening the plant gives the new ETag.'

function hasChangedPlant({ fields, status = 0 }: Exchange): boolean {
  return status < 300 && fields.some(([name]) => name === 'if-match')
}

function fieldsOf(title: string, fields: readonly HeaderField[]): Child {
  const [known = [], others = []] = [true, false].map((is) => fields.filter(([name]) => name in meanings === is))
  const folded = make('details', make('summary', `Other header fields (${others.length})`), listOf(others))
  return fields.length > 0 && [make('h4', `${title}: header fields`), listOf(known), others.length > 0 && folded]
}

function listOf(fields: readonly HeaderField[]): Child {
  const rows = fields.map(([name, value]) => [
    make('dt', name),
    make('dd', make('code', value), make('span.hint', ` ${meanings[name] ?? ''}`)),
  ])
  return rows.length > 0 && make('dl', rows)
}

/** A request as code, in the language that a person chose last. */
export function snippetsOf(sent: Sent): HTMLElement {
  const code = make('pre', scrollable('Request as code'))
  const copier = makeButton('Copy', (button) => copy(code.textContent, button, code))
  const tabs = Object.entries(snippets).map(([language, write]) => {
    const tab = makeButton(language, () => {
      chosen = language
      for (const each of tabs) each.ariaPressed = String(each === tab)
      code.textContent = escaped(write(sent))
    })
    if (language === chosen) queueMicrotask(() => tab.click())
    return tab
  })
  const hint = make('p.hint', 'First give your token to the shell: ', make('code', 'export TOKEN=plt_...'))
  return make('div.snippets', make('div.buttons', tabs, copier), code, hint)
}

let chosen = 'curl'
