// The form that creates a plant, and the request and answer it exchanged.

import { connect, curl, statusOf, wordsOf } from './api.js'
import { fieldOf, find } from './find.js'
import { clearRefusal, isFilledIn, onSubmit, showRefusal } from './form.js'

interface CreateOptions {
  /** Called before a plant is sent. */
  readonly onStart: () => void
  /** Receives the id and name of the created plant. */
  readonly onCreated: (id: string, name: string) => Promise<void>
  /** Receives a refusal that does not concern the plant. */
  readonly onRefusal: (refusal: unknown) => void
}

const idMax = 2n ** 63n - 1n
/** Header fields shown first. */
const foremost = ['location', 'content-type']

const form = find('#create', HTMLFormElement)
const error = find('#create-error')
const copy = find('#copy', HTMLButtonElement)

export function createForm({ onStart, onCreated, onRefusal }: CreateOptions): void {
  onSubmit(form, create)

  async function create(): Promise<void> {
    clearRefusal(form, error)
    onStart()
    if (!isFilledIn(form)) return
    const id = fieldOf(form, 'id').value.trim()
    const name = fieldOf(form, 'name').value
    const tag = fieldOf(form, 'tag').value
    try {
      await connect({ fetch: fetchAndShow }).createPlant({ id, name, ...(tag !== '' && { tag }) })
      form.reset()
      suggestAfter(id)
      await onCreated(id, name)
    } catch (refusal) {
      if (statusOf(refusal) === 401) onRefusal(refusal)
      else showRefusal(form, wordsOf(refusal), error)
    }
  }
}

function suggestAfter(id: string): void {
  const next = BigInt(id) + 1n
  fieldOf(form, 'id').value = next > idMax ? '' : String(next)
  fieldOf(form, next > idMax ? 'id' : 'name').focus()
}

async function fetchAndShow(input: RequestInfo | URL, request: RequestInit = {}): Promise<Response> {
  const response = await fetch(input, request)
  find('#exchange').hidden = false
  find('#request').textContent = curl(input instanceof Request ? input.url : String(input), request)
  find('#answer').textContent =
    `HTTP ${response.status}\n${fieldsOf(response.headers)}\n\n${await response.clone().text()}`
  return response
}

function fieldsOf(headers: Headers): string {
  const rank = (name: string): number => (foremost.indexOf(name) + foremost.length + 1) % (foremost.length + 1)
  return [...headers]
    .sort(([one], [other]) => rank(one) - rank(other))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

copy.addEventListener('click', async () => {
  const request = find('#request')
  try {
    // Only HTTPS pages and pages of this machine have a clipboard, and a browser may deny access.
    await navigator.clipboard.writeText(request.textContent)
    copy.textContent = 'Copied'
  } catch {
    getSelection()?.selectAllChildren(request)
    copy.textContent = 'Press Ctrl+C'
  }
  setTimeout(() => {
    copy.textContent = 'Copy'
  }, 2_500)
})
