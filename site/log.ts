// The requests of this page, so that a person sees what it sends and what the server answers: a drawer with a list, and
// the one that is open.

import { base } from './address.js'
import { type Child, fill, find, make, makeButton, remember } from './elements.js'
import { reprint } from './exact-json.js'
import { type Sent, snippetsOf } from './snippets.js'
import { makeCode } from './texts.js'

/** A request, and its answer once it is there. */
interface Exchange extends Sent {
  readonly startedAt: Date
  /** Shows it in the list. */
  readonly button: HTMLButtonElement
  ms?: number
  response?: Response
  /** The body; undefined for a stream, and until it is there. */
  answer?: string
  /** Why there is no answer. */
  failure?: string
}

/** Of each kind, asked for by a person and aside, beside the one that is open. */
const exchangesMax = 50

/** What header fields of an answer mean for a person. These come first. */
const meanings: Readonly<Record<string, string>> = {
  location: 'Where the new plant is.',
  etag: 'The version of the plant. Send it as If-Match to change the plant only if nobody else has.',
  link: 'Where the next page is.',
  'idempotency-replayed': 'The response of an earlier try: nothing was created twice.',
  'retry-after': 'Seconds to wait before the next try.',
  'www-authenticate': 'Which token the request needs.',
  'x-request-id': "The name of this request in the server's log.",
}

const answerCharactersMax = 200_000

const drawer = find('#log', HTMLDetailsElement)
/** The newest first. */
const list = find('#log-list')
const detail = find('#log-detail')
/** The newest request, when the list is closed. */
const last = find('#log-last')
let newest: Exchange | undefined
let open: Exchange | undefined

remember(find('#developer', HTMLInputElement), 'plantstore-requests')
drawer.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return
  closeLog()
  find('#log-toggle').focus()
})

export function closeLog(): void {
  drawer.open = false
}

export function clearLog(): void {
  newest = open = undefined
  for (const place of [list, detail, last]) place.replaceChildren()
}

/** Sends a request as `fetch` does, and records it. @param isAside whether the page sends it on its own. */
export async function record(input: RequestInfo | URL, init: RequestInit = {}, isAside = false): Promise<Response> {
  const startedMs = performance.now()
  const exchange: Exchange = {
    method: init.method ?? 'GET',
    url: new URL(input instanceof Request ? input.url : input, document.baseURI),
    fields: [...new Headers(init.headers)].filter(([name]) => name !== 'authorization'),
    body: typeof init.body === 'string' ? init.body : undefined,
    startedAt: new Date(),
    button: makeButton('', () => choose(exchange), { class: 'item', 'aria-pressed': 'false' }),
  }
  list.prepend(make(isAside ? 'li.aside' : 'li', exchange.button))
  const [kind, isOpen] = [isAside ? '.aside' : ':not(.aside)', ':has([aria-pressed="true"])']
  list.querySelectorAll(`li${kind}:not(${isOpen})`)[exchangesMax]?.remove()
  if (!isAside) newest = exchange
  show(exchange)
  try {
    const response = await fetch(input, init)
    exchange.response = response
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!isStream) void keepAnswer(exchange, response.clone())
    return response
  } catch (cause) {
    exchange.failure = init.signal?.aborted === true ? 'cancelled' : 'no response'
    throw cause
  } finally {
    exchange.ms = performance.now() - startedMs
    show(exchange)
  }
}

async function keepAnswer(exchange: Exchange, response: Response): Promise<void> {
  try {
    exchange.answer = await response.text()
  } catch {
    exchange.failure = 'the response broke off'
  }
  show(exchange)
}

/** Shows what has become of an exchange. */
function show(exchange: Exchange): void {
  const time = exchange.startedAt.toLocaleTimeString('en', { hour12: false })
  exchange.button.replaceChildren(...lineOf(exchange), make('time.hint.roomy', time))
  if (exchange === open) showDetail(exchange)
  // Once there is an answer again, that there was none is history.
  if (newest?.failure !== undefined && exchange.response !== undefined) newest = exchange
  if (exchange === newest) last.replaceChildren(...lineOf(exchange))
}

/** Opens a request, or closes it if it is open. */
function choose(exchange: Exchange): void {
  open = open === exchange ? undefined : exchange
  for (const button of list.querySelectorAll('button')) button.ariaPressed = String(button === open?.button)
  detail.replaceChildren()
  if (open !== undefined) showDetail(open)
  detail.scrollTop = 0
}

function lineOf(exchange: Exchange): Node[] {
  const { method, url, ms } = exchange
  return [
    make(`b.method.${method.toLowerCase()}`, method),
    make('bdi.path.cut', `/${url.pathname.slice(base.pathname.length)}${url.search}`),
    statusOf(exchange),
    make('span.hint.ms', ms === undefined ? '' : `${Math.round(ms)} ms`),
  ]
}

function statusOf({ response, failure }: Exchange): HTMLElement {
  if (failure !== undefined) return make('span.status-5', failure)
  if (response === undefined) return make('span.hint', 'sending')
  // HTTP/2 has no text for a status.
  const { status, statusText } = response
  return make(`span.status-${String(status).charAt(0)}`, String(status), make('span.roomy', ` ${statusText}`))
}

function showDetail(exchange: Exchange): void {
  const all = [...(exchange.response?.headers ?? [])]
  const sorted = all.toSorted(([one], [other]) => Number(other in meanings) - Number(one in meanings))
  const fields = sorted.map(([name, value]) => [
    make('dt', name),
    make('dd', make('code', value), make('p.hint', meanings[name])),
  ])
  detail.replaceChildren()
  fill(
    detail,
    make('h3.row.wrap', lineOf(exchange)),
    answerOf(exchange),
    make('h4', 'Send it yourself'),
    snippetsOf(exchange),
    fields.length > 0 && [make('h4', 'Response: header fields'), make('dl', fields)],
  )
}

function answerOf({ answer, response }: Exchange): Child {
  if (answer === undefined) {
    return make('p.hint', response === undefined ? 'There is no response yet.' : 'A stream of events.')
  }
  if (answer === '') return make('p.hint', 'The response has no body.')
  const isLong = answer.length > answerCharactersMax
  return [
    makeCode('Response: body', { body: isLong ? answer.slice(0, answerCharactersMax) : reprint(answer) }),
    isLong && make('p.hint', `The first ${answerCharactersMax} of ${answer.length} characters.`),
  ]
}
