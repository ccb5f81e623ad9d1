// Adds many plants: rows from a spreadsheet or a file, or the examples. What the page can see is wrong is said first;
// ids that are taken, the server refuses. Ids make it safe to repeat: a plant that is there already, with the same
// properties, counts as done.

import { plantsOf } from './address.js'
import { connect, freeIds, isRefusal, isThere, statusOf, wordsOf } from './api.js'
import type { NewPlant } from './client.js'
import { csvRow, decodePiece, UnreadableFile } from './columns.js'
import { find, hold, make, makeTable, refocus, showState } from './elements.js'
import { printLine } from './exact-json.js'
import { linesOf, type PlantRow, readRows, refused } from './files.js'
import { onSubmit } from './form.js'
import { announce, say, spoken, toSentence } from './messages.js'
import { displayed, ownOf, type PlantProperty, plantOf, properties, textOf, type Values } from './properties.js'
import { sampleOf } from './samples.js'
import { shown } from './texts.js'
import { token } from './token.js'

const previewRows = 10
const previewColumnsMax = 5
const wrongRowsMax = 100
/** Browsers open six connections to a server; one of them follows the changes. */
const requestsAtOnce = 5
const bytesMax = 64 * 1024 * 1024

const dialog = find('#many', HTMLDialogElement)
const form = find('form', HTMLFormElement, dialog)
const text = find('#rows', HTMLTextAreaElement)
const file = find('#file', HTMLInputElement)
const error = find('#many-error')
const preview = find('#preview')
const problems = find('#many-wrong')
const progress = find('#many-progress', HTMLProgressElement)
const status = find('#many-status')
const stop = find('#many-stop', HTMLButtonElement)
const submit = find('[type="submit"]', HTMLButtonElement, form)
const closer = find('[data-cancel]', HTMLButtonElement, dialog)
const names = properties.map(({ name }) => name)
const sampleRow = properties.map((each) => textOf(each, { [each.name]: sampleOf(each.schema) }) ?? '')
text.placeholder = csvRow(names) + csvRow(sampleRow)
find('#rows-hint').textContent =
  `The first row names the columns: ${new Intl.ListFormat('en-GB').format(names)}. A list of names needs no such row.`

let rows: PlantRow[] = []
/** The lines before the first row. */
let head: readonly string[] = []
/** Shows what was added. */
let onAdded = async (): Promise<void> => {}
let running: AbortController | undefined
/** What was added, which the page says once the dialog is closed. */
let result = ''

text.addEventListener('input', () => {
  take(text.value)
  file.value = ''
})
file.addEventListener('change', () => takeFiles([...(file.files ?? [])]))
stop.addEventListener('click', () => running?.abort())
find('#many-fix').addEventListener('click', takeRejected)
onSubmit(form, () => add(true))
for (const name of ['dragover', 'drop'] as const) {
  document.addEventListener(name, (event) => {
    if (event.target === file || !event.dataTransfer?.types.includes('Files')) return
    // The browser would leave the page for the file.
    event.preventDefault()
    if (name === 'drop' && dialog.open && running === undefined) void takeFiles([...event.dataTransfer.files])
  })
}

/** @param show called after plants were added. */
export function startMany(show: () => Promise<void>): void {
  onAdded = show
  dialog.addEventListener('close', () => {
    running?.abort()
    refocus(undefined)
    tell()
  })
}

export function openMany(): void {
  if (rows.length === 0) take(text.value)
  // The same file can be chosen again.
  file.value = ''
  dialog.showModal()
}

/** Adds the example plants, with samples of whatever else the document requires. */
export async function addExamples(): Promise<void> {
  const examples = readRows(await (await fetch('site/houseplants.ndjson')).text())
  review(examples.map((row) => ({ ...row, plant: withSamples(row.plant ?? {}) })))
  if (!(await add(false))) return dialog.showModal()
  announce(`${plantsOf(examples.length)} added.`)
  take(text.value)
}

function withSamples(example: object): Values {
  const values = properties.map(({ name, isRequired, schema }) => {
    const value = ownOf(example, name)
    return [name, value === undefined && isRequired ? sampleOf(schema) : value] as const
  })
  return plantOf(values)
}

async function takeFiles([chosen, ...others]: readonly File[]): Promise<void> {
  if (chosen === undefined) return
  try {
    if (others.length > 0) throw new UnreadableFile('is more than one file; add one after the other')
    if (chosen.size === 0) throw new UnreadableFile('is an empty file; choose one that has a plant in each line')
    if (chosen.size > bytesMax) throw new UnreadableFile('has more than 64 MiB; use `plantstore import` for it')
    const content = decodePiece(new Uint8Array(await chosen.arrayBuffer()))
    text.value = ''
    take(content)
  } catch (cause) {
    // What the box has stays.
    take(text.value)
    refuse(cause)
  }
}

function take(content: string): void {
  for (const place of [error, status, preview, problems]) place.textContent = ''
  rows = []
  submit.textContent = 'Add'
  turn('ready')
  if (content.trim() === '') return
  try {
    const source = linesOf(content)
    // An array becomes lines.
    if (text.value !== '') text.value = source
    const notes = new Set<string>()
    const read = readRows(source, (sentence) => notes.add(sentence))
    head = source.split('\n', (read[0]?.line ?? 1) - 1)
    review(read)
    say(status, [...notes].join(' '))
  } catch (cause) {
    refuse(cause)
  }
}

function refuse(cause: unknown): void {
  if (!(cause instanceof UnreadableFile)) throw cause
  say(error, toSentence(`this ${cause.message}`))
}

/** Shows the rows, and says the first thing that is wrong: the table begins with all of them. */
function review(read: readonly PlantRow[]): void {
  rows = [...read]
  const { ready = [], wrong = [] } = Object.groupBy(rows, (row) => (row.wrong === undefined ? 'ready' : 'wrong'))
  submit.textContent = `Add ${plantsOf(ready.length)}`
  turn(ready.length > 0 ? 'ready' : wrong.length > 0 ? 'rejected' : 'done')
  const [first] = wrong
  say(error, first === undefined ? '' : toSentence(`line ${first.line}: ${first.wrong}`))
  problems.textContent = first === undefined ? '' : `${wrong.length.toLocaleString('en')} with a problem`
  const counts = [ready.length > 0 && `${ready.length.toLocaleString('en')} ready`, problems.textContent]
  showRows(`2. Check: ${counts.filter(Boolean).join(', ')}.`, [...wrong, ...ready])
}

/**
 * Adds the rows. Leaves those that are rejected. Returns whether there are none.
 *
 * @param areOfBox whether to empty the box once all of them are added.
 */
async function add(areOfBox: boolean): Promise<boolean> {
  if (rows.length === 0) {
    say(error, error.textContent || 'Paste rows or choose a file.')
    return false
  }
  let failure: unknown
  running = new AbortController()
  for (const place of [error, status]) place.textContent = ''
  progress.value = 0
  progress.max = rows.length
  turn('running')
  // In the place of the button that was pressed.
  hold(stop)
  find('#many-title').focus()
  try {
    await giveIds()
    await addAll(running)
  } catch (cause) {
    failure = cause
  } finally {
    running = undefined
  }
  const why = isRefusal(failure) ? toSentence(wordsOf(failure)) : 'You stopped it.'
  result = failure === undefined ? describe() : `${describe()} ${why}`
  const isChanged = rows.some(({ outcome }) => outcome === 'added')
  rows = rows.filter(({ outcome }) => outcome === undefined)
  if (areOfBox && rows.length === 0) text.value = ''
  else if (failure !== undefined && text.value !== '') leave()
  review(rows)
  if (statusOf(failure) === 401) throw failure
  say(status, failure === undefined ? result : `${result} Press Add to continue; nothing is added twice.`)
  if (failure === undefined) closer.focus()
  if (isChanged) await onAdded()
  tell()
  return rows.length === 0
}

/** Says outside of the dialog what it has done. */
function tell(): void {
  if (result === '' || dialog.open) return
  announce(result)
  result = ''
}

/** Offers what a person can do. */
function turn(state: 'ready' | 'running' | 'rejected' | 'done'): void {
  showState(dialog, state)
  for (const field of [text, file]) field.disabled = state === 'running'
  closer.classList.toggle('main', state === 'done')
}

/** Leaves the rows in the box, below the one that names the columns, where they have other lines. They keep their ids. */
function leave(): void {
  const left = rows
  text.value = [...head, ...left.map(({ raw }) => raw)].join('\n')
  take(text.value)
  rows = left.map((row, at) => ({ ...row, line: rows[at]?.line ?? row.line }))
}

/** Leaves the rows that were rejected in the box. */
function takeRejected(): void {
  leave()
  take(text.value)
  text.focus()
}

/** Gives free ids to plants that have none. */
async function giveIds(): Promise<void> {
  const used = new Set(rows.map(({ plant }) => plant?.id))
  const free = freeIds()
  let id = 0n
  for (const [at, row] of rows.entries()) {
    if (row.plant === undefined || row.plant.id !== undefined) continue
    // A token that may only create does not learn which ids are free.
    do id = (await free.next()).value ?? id + 1n
    while (used.has(id))
    rows[at] = { ...row, plant: { ...row.plant, id } }
  }
}

/** Adds the plants of the rows until the attempt is stopped, by a person or a failure that concerns all. */
async function addAll(attempt: AbortController): Promise<void> {
  const unrecorded = connect(token.get(), fetch.bind(globalThis))
  const first = rows.findIndex(({ plant }) => plant !== undefined)
  const addOne = async (at: number, row: PlantRow, plant: NewPlant): Promise<void> => {
    // The log shows the first request, and would show nothing else.
    const client = at === first ? connect() : unrecorded
    try {
      await client.createPlant(plant)
      rows[at] = { ...row, outcome: 'added' }
    } catch (refusal) {
      const number = statusOf(refusal) ?? 0
      if (number === 409 && (await isThere(plant, client))) rows[at] = { ...row, outcome: 'known' }
      else if ([400, 409, 413].includes(number)) rows[at] = refused(row, wordsOf(refusal))
      else attempt.abort(refusal)
    }
  }
  // The workers share this iterator; each takes the next remaining row.
  const left = rows.entries()
  const addSome = async (): Promise<void> => {
    for (const [at, row] of left) {
      if (attempt.signal.aborted) return
      if (row.plant !== undefined) await addOne(at, row, row.plant as NewPlant)
      progress.value += 1
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, addSome))
  attempt.signal.throwIfAborted()
}

/** Shows the first rows, and what is wrong with them. */
function showRows(sentence: string, all: readonly PlantRow[]): void {
  const rowsMax = all[0]?.wrong === undefined ? previewRows : wrongRowsMax
  const more = all.length > rowsMax ? ` These are ${rowsMax} of ${all.length.toLocaleString('en')} rows.` : ''
  const first = all.slice(0, rowsMax)
  const has = ({ plant }: PlantRow, { name }: PlantProperty): boolean =>
    plant !== undefined && (name === 'id' || ownOf(plant, name) !== undefined)
  const columns = displayed.filter((column) => first.some((row) => has(row, column))).slice(0, previewColumnsMax)
  const span = String(Math.max(columns.length, 1))
  const body = first.map(({ line, plant, wrong, raw }) => {
    const cells = columns.map((column) => {
      const cell = plant && textOf(column, plant, printLine)
      return cell === undefined ? make('span.hint', column.name === 'id' ? 'next' : '-') : shown(cell)
    })
    const fault = make('td.error', { colspan: span }, spoken(`${wrong} `), make('div.hint', shown(raw.slice(0, 100))))
    return [String(line), ...(wrong === undefined ? cells : [fault])]
  })
  const titles = columns.length === 0 ? ['Why it is not added'] : columns.map(({ title }) => title)
  preview.replaceChildren()
  if (all.length > 0) preview.append(make('h3', sentence + more), makeTable('Rows', ['Line', ...titles], body))
}

/** Such as `2 plants added, 1 rejected of 4 rows.` */
function describe(): string {
  const {
    added = [],
    known = [],
    rejected = [],
  } = Object.groupBy(rows, ({ wrong, outcome = 'left' }) => (wrong === undefined ? outcome : 'rejected'))
  const parts = [
    `${plantsOf(added.length)} added`,
    known.length > 0 && `${known.length.toLocaleString('en')} there already`,
    rejected.length > 0 && `${rejected.length.toLocaleString('en')} rejected`,
  ]
  const all = `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'}`
  return `${parts.filter(Boolean).join(', ')} of ${all}.`
}
