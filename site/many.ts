// Adds many plants: rows from a spreadsheet or a file, or the examples. Ids make it safe to repeat: a plant that is there
// already, with the same properties, counts as done.

import { plantsOf } from './address.js'
import { connect, freeIds, isRefusal, isThere, statusOf, wordsOf } from './api.js'
import type { NewPlant } from './client.js'
import { csvRow, UnreadableFile } from './columns.js'
import { find, make, makeTable } from './elements.js'
import { printLine } from './exact-json.js'
import { namesOfColumns, type PlantRow, readRows } from './files.js'
import { onSubmit } from './form.js'
import { announce, explain, say, spoken, toSentence } from './messages.js'
import { displayed, ownOf, type PlantProperty, plantOf, properties, textOf, type Values } from './properties.js'
import { sampleOf } from './samples.js'
import { shown } from './texts.js'
import { token } from './token.js'

const previewRows = 10
const previewColumnsMax = 5
const refusedRowsMax = 100
/** Browsers open six connections to a server; one of them follows the changes. */
const requestsAtOnce = 5
const bytesMax = 64 * 1024 * 1024

const dialog = find('#many', HTMLDialogElement)
const form = find('form', HTMLFormElement, dialog)
const text = find('#rows', HTMLTextAreaElement)
const file = find('#file', HTMLInputElement)
const error = find('#many-error')
const preview = find('#preview')
const progress = find('#many-progress', HTMLProgressElement)
const status = find('#many-status')
const stop = find('#many-stop', HTMLButtonElement)
const fix = find('#many-fix', HTMLButtonElement)
const submit = find('[type="submit"]', HTMLButtonElement, form)
const closer = find('[data-cancel]', HTMLButtonElement, dialog)
const sampleRow = properties.map((each) => textOf(each, { [each.name]: sampleOf(each.schema) }) ?? '')
text.placeholder = csvRow(properties.map(({ name }) => name)) + csvRow(sampleRow)
find('#rows-hint').textContent =
  `The first row names the columns: ${namesOfColumns}. A list of names needs no such row.`

/** What happened to rows so far. */
interface Tally {
  added: number
  known: number
  readonly refused: PlantRow[]
}

let rows: readonly PlantRow[] = []
/** What the rows were read from. */
let source = ''
let rejected: readonly PlantRow[] = []
let hasAdded = false
/** Shows what was added. */
let onAdded = async (): Promise<void> => {}
let running: AbortController | undefined

text.addEventListener('input', () => take(text.value))
file.addEventListener('change', () => takeFile(file.files?.[0]))
stop.addEventListener('click', () => running?.abort())
fix.addEventListener('click', takeRejected)
onSubmit(form, add)
for (const name of ['dragover', 'drop'] as const) {
  document.addEventListener(name, (event) => {
    if (event.target === file || !event.dataTransfer?.types.includes('Files')) return
    // The browser would leave the page for the file.
    event.preventDefault()
    if (name === 'drop' && dialog.open) void takeFile(event.dataTransfer.files[0])
  })
}

/** @param show called after plants were added, when the dialog closes. */
export function startMany(show: () => Promise<void>): void {
  onAdded = show
  dialog.addEventListener('close', end)
}

async function end(): Promise<void> {
  running?.abort()
  const mustShow = hasAdded
  hasAdded = false
  if (mustShow) await onAdded()
}

export function openMany(): void {
  empty()
  dialog.showModal()
}

function empty(): void {
  text.value = ''
  file.value = ''
  take('')
}

/** Adds the example plants, with samples of whatever else the document requires. */
export async function addExamples(): Promise<void> {
  const examples = await (await fetch('site/houseplants.ndjson')).text()
  empty()
  take(examples)
  rows = rows.map((row) => ({ ...row, plant: withSamples(row.plant ?? {}) }))
  if (!(await add())) return dialog.showModal()
  const { length } = hasAdded ? rows : []
  await end()
  if (length > 0) announce(`${plantsOf(length)} added.`)
}

function withSamples(example: object): Values {
  const values = properties.map(({ name, isRequired, schema }) => {
    const value = ownOf(example, name)
    return [name, value === undefined && isRequired ? sampleOf(schema) : value] as const
  })
  return plantOf(values)
}

async function takeFile(chosen: File | undefined): Promise<void> {
  if (chosen === undefined) return
  if (chosen.size > bytesMax) return say(error, 'Files of more than 64 MiB are for `plantstore import`.')
  text.value = ''
  try {
    take(decode(new Uint8Array(await chosen.arrayBuffer())))
  } catch {
    take('')
    say(error, 'This file is not text in UTF-8 or UTF-16. Save a sheet as "CSV UTF-8".')
  }
}

function decode(bytes: Uint8Array): string {
  const encodings: Readonly<Record<string, string>> = { '255,254': 'utf-16le', '254,255': 'utf-16be' }
  return new TextDecoder(encodings[String(bytes.slice(0, 2))] ?? 'utf-8', { fatal: true }).decode(bytes)
}

function take(content: string): void {
  for (const place of [error, status, preview]) place.textContent = ''
  setDone(false)
  source = content
  rows = []
  submit.textContent = 'Add'
  if (content.trim() === '') return
  try {
    rows = readRows(content)
  } catch (cause) {
    if (!(cause instanceof UnreadableFile)) throw cause
    say(error, toSentence(`this ${cause.message}`))
    return
  }
  const wrong = rows.filter((row) => row.wrong !== undefined)
  const valid = rows.filter((row) => row.wrong === undefined)
  const [ready, bad] = [valid, wrong].map(({ length }) => length.toLocaleString('en'))
  submit.textContent = `Add ${plantsOf(valid.length)}`
  submit.hidden = valid.length === 0
  const end = wrong.length === 0 ? '.' : `, ${bad} with a problem.`
  showRows(`2. Check: ${ready} ready${end}`, [...wrong, ...valid], previewRows)
}

/** Returns whether the dialog has nothing more to say: all rows are there, or the page has said why not. */
async function add(): Promise<boolean> {
  let isSaid = false
  if (rows.length === 0) {
    say(error, error.textContent || 'Paste rows or choose a file.')
    return isSaid
  }
  running = new AbortController()
  const tally: Tally = { added: 0, known: 0, refused: rows.filter(({ wrong }) => wrong !== undefined) }
  let isDone = false
  setRunning(true)
  try {
    rows = await withIds(rows)
    await addAll(tally, running)
    say(status, describe(tally, ''))
    rejected = tally.refused.sort((one, other) => one.line - other.line)
    preview.textContent = ''
    if (rejected.length > 0) showRows('', rejected, refusedRowsMax)
    isDone = true
    isSaid = rejected.length === 0
  } catch (cause) {
    const why = isRefusal(cause) ? toSentence(wordsOf(cause)) : 'You stopped it.'
    say(status, describe(tally, ` ${why} Press Add to continue; nothing is added twice.`))
    if (statusOf(cause) === 403) dialog.close()
    isSaid = statusOf(cause) === 401 || statusOf(cause) === 403
    if (isSaid) explain(cause)
  } finally {
    running = undefined
    setRunning(false)
    setDone(isDone)
    if (isDone) closer.focus()
    hasAdded ||= tally.added > 0
  }
  return isSaid
}

/** Offers what a person can do next. */
function setDone(isDone: boolean): void {
  submit.hidden = isDone
  fix.hidden = !isDone || preview.textContent === ''
  closer.classList.toggle('main', isDone)
}

/** Leaves the rows that were rejected in the box, below the row that names the columns. */
function takeRejected(): void {
  const head = source.split('\n', (rows[0]?.line ?? 1) - 1)
  text.value = [...head, ...rejected.map(({ raw }) => raw)].join('\n')
  take(text.value)
  text.focus()
}

function setRunning(isRunning: boolean): void {
  submit.hidden = isRunning
  closer.hidden = isRunning
  progress.hidden = !isRunning
  progress.value = 0
  progress.max = rows.length
  stop.hidden = !isRunning
  text.disabled = isRunning
  file.disabled = isRunning
  if (!isRunning) return
  // The button that was pressed is gone.
  stop.focus()
  for (const place of [error, status]) place.textContent = ''
}

/** Gives free ids to plants that have none. */
async function withIds(read: readonly PlantRow[]): Promise<readonly PlantRow[]> {
  const used = new Set(read.map(({ plant }) => plant?.id))
  const free = freeIds()
  const given = [...read]
  let id = 0n
  for (const [at, row] of read.entries()) {
    if (row.plant === undefined || row.plant.id !== undefined) continue
    // A token that may only create does not learn which ids are free.
    do id = (await free.next()).value ?? id + 1n
    while (used.has(id))
    given[at] = { ...row, plant: { ...row.plant, id } }
  }
  return given
}

/** Adds the plants of the rows until the attempt is stopped, by a person or a failure that concerns all. */
async function addAll(tally: Tally, attempt: AbortController): Promise<void> {
  // The log would show nothing else.
  const client = connect(token.get(), fetch.bind(globalThis))
  const addOne = async (row: PlantRow, plant: NewPlant): Promise<void> => {
    try {
      await client.createPlant(plant)
      tally.added += 1
    } catch (refusal) {
      const number = statusOf(refusal) ?? 0
      if (number === 409 && (await isThere(plant, client))) tally.known += 1
      else if ([400, 409, 413].includes(number)) tally.refused.push({ ...row, wrong: wordsOf(refusal) })
      else attempt.abort(refusal)
    }
  }
  // The workers share this iterator; each takes the next remaining row.
  const left = rows.values()
  const addSome = async (): Promise<void> => {
    for (const row of left) {
      if (attempt.signal.aborted) return
      if (row.plant !== undefined) await addOne(row, row.plant as NewPlant)
      progress.value += 1
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, addSome))
  attempt.signal.throwIfAborted()
}

/** Shows the first rows, and what is wrong with them. */
function showRows(sentence: string, all: readonly PlantRow[], rowsMax: number): void {
  const more = all.length > rowsMax ? ` These are ${rowsMax} of ${all.length.toLocaleString('en')} rows.` : ''
  const first = all.slice(0, rowsMax)
  const has = ({ plant, wrong }: PlantRow, { name }: PlantProperty): boolean =>
    wrong === undefined && (name === 'id' || ownOf(plant ?? {}, name) !== undefined)
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
  preview.replaceChildren(
    sentence + more === '' ? '' : make('h3', sentence + more),
    makeTable('Rows', ['Line', ...titles], body),
  )
}

function describe({ added, known, refused }: Tally, why: string): string {
  const parts = [
    `${plantsOf(added)} added`,
    known > 0 && `${known.toLocaleString('en')} there already`,
    refused.length > 0 && `${refused.length.toLocaleString('en')} rejected`,
  ]
  return `${parts.filter(Boolean).join(', ')} of ${rows.length.toLocaleString('en')} rows.${why}`
}
