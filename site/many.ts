// Adds many plants: rows from a spreadsheet or a file, or the examples. Ids make it safe to repeat: a plant that is there
// already, with the same properties, counts as done.

import { plantsOf } from './address.js'
import { connect, freeIds, isThere, statusOf, token, wordsOf } from './api.js'
import type { NewPlant } from './client.js'
import { csvRow } from './columns.js'
import { download, find, make, makeTable } from './elements.js'
import { parseExact, printLine } from './exact-json.js'
import { namesOfColumns, type PlantRow, type Rows, readRows } from './files.js'
import { onSubmit } from './form.js'
import { explain, hush, say, spoken, toSentence } from './messages.js'
import { displayed, ownOf, plantOf, properties, textOf } from './properties.js'
import { UnreadableFile } from './records.js'
import { sampleOf } from './samples.js'
import { shown } from './texts.js'

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
const refusedButton = find('#refused', HTMLButtonElement)
const submit = find('[type="submit"]', HTMLButtonElement, form)
const closer = find('[data-cancel]', HTMLButtonElement, dialog)
const sampleRow = properties.map((each) => textOf(each, { [each.name]: sampleOf(each.schema) }) ?? '')
text.placeholder = csvRow(properties.map(({ name }) => name)) + csvRow(sampleRow)
find('#rows-hint').prepend(`The first row names the columns: ${namesOfColumns}. A list of names needs no such row. `)

/** What happened to rows so far. */
interface Tally {
  added: number
  known: number
  readonly refused: PlantRow[]
}

let rows: Rows | undefined
/** Settles once all rows have ids. */
let numbering = Promise.resolve()
let refused: readonly PlantRow[] = []
let hasAdded = false
let running: AbortController | undefined

text.addEventListener('input', () => take(text.value))
file.addEventListener('change', () => takeFile(file.files?.[0]))
stop.addEventListener('click', () => running?.abort())
refusedButton.addEventListener('click', downloadRefused)
onSubmit(form, add)
for (const name of ['dragover', 'drop'] as const) {
  document.addEventListener(name, (event) => {
    const { dataTransfer } = event
    if (!dataTransfer?.types.includes('Files')) return
    // The browser would leave the page for the file.
    event.preventDefault()
    const isFree = dialog.open || document.querySelector('dialog:modal') === null
    const mayAdd = !find('#store').hidden && !document.body.matches('.no-writes')
    if (name !== 'drop' || !isFree || !mayAdd) return
    if (!dialog.open) openMany()
    void takeFile(dataTransfer.files[0])
  })
}

/** @param onAdded called after plants were added, when the dialog closes. */
export function startMany(onAdded: () => Promise<void>): void {
  dialog.addEventListener('close', () => {
    running?.abort()
    if (hasAdded) void onAdded()
    hasAdded = false
  })
}

export function openMany(): void {
  text.value = ''
  file.value = ''
  take('')
  dialog.showModal()
}

async function takeFile(chosen: File | undefined): Promise<void> {
  if (chosen === undefined || running !== undefined) return
  if (chosen.size > bytesMax) return say(error, 'Files of more than 64 MiB are for `plantstore import`.')
  text.value = ''
  try {
    take(decode(new Uint8Array(await chosen.arrayBuffer())))
  } catch {
    take('')
    say(error, 'This file is not text in UTF-8 or UTF-16. Save a sheet as "CSV UTF-8".')
  }
}

function take(content: string): void {
  for (const place of [error, status]) place.textContent = ''
  refusedButton.hidden = true
  offerToClose(false)
  rows = undefined
  submit.textContent = 'Add'
  preview.replaceChildren()
  if (content.trim() === '') return
  try {
    rows = readRows(content)
    submit.textContent = `Add ${plantsOf(rows.rows.filter(({ wrong }) => wrong === undefined).length)}`
    preview.replaceChildren(...previewOf(rows.rows))
    numbering = number(rows)
  } catch (cause) {
    if (!(cause instanceof UnreadableFile)) throw cause
    say(error, toSentence(`this ${cause.message}`))
  }
}

/** Gives free ids to plants that have none. */
async function number(read: Rows): Promise<void> {
  const used = new Set(read.rows.map(({ plant }) => plant?.id))
  const free = freeIds()
  const given = [...read.rows]
  let id = 0n
  for (const [at, row] of given.entries()) {
    if (row.plant === undefined || row.plant.id !== undefined) continue
    // A token that may only create does not learn which ids are free.
    do id = (await free.next()).value ?? id + 1n
    while (used.has(id))
    given[at] = { ...row, plant: { ...row.plant, id } }
  }
  if (rows !== read) return
  rows = { ...read, rows: given }
  preview.replaceChildren(...previewOf(given))
}

async function add(): Promise<void> {
  await numbering
  if (rows === undefined) return say(error, error.textContent || 'Paste rows or choose a file.')
  running = new AbortController()
  const { signal } = running
  const tally: Tally = { added: 0, known: 0, refused: rows.rows.filter(({ wrong }) => wrong !== undefined) }
  const valid = rows.rows.filter(({ plant }) => plant?.id !== undefined)
  show(true, valid.length)
  try {
    await addAll(valid, tally, signal, () => {
      progress.value = tally.added + tally.known
    })
    say(status, describe(tally, rows.rows.length, ''))
    preview.replaceChildren(...refusedOf(tally.refused))
    offerToClose(true)
  } catch (cause) {
    const why = signal.aborted ? 'You stopped it.' : toSentence(wordsOf(cause))
    say(status, describe(tally, rows.rows.length, ` ${why} Press Add to continue; nothing is added twice.`))
    if (statusOf(cause) === 403) dialog.close()
    if (statusOf(cause) === 401 || statusOf(cause) === 403) explain(cause)
  } finally {
    running = undefined
    show(false)
    hasAdded ||= tally.added > 0
    refused = tally.refused
    refusedButton.hidden = refused.length === 0
  }
}

function show(isRunning: boolean, rowsInAll = 0): void {
  progress.hidden = !isRunning
  progress.value = 0
  progress.max = Math.max(rowsInAll, 1)
  stop.hidden = !isRunning
  text.disabled = isRunning
  file.disabled = isRunning
  if (isRunning) for (const place of [error, status]) place.textContent = ''
}

function downloadRefused(): void {
  if (rows === undefined) return
  const end = rows.format === 'csv' ? '\r\n' : '\n'
  const parts = [rows.header, ...refused.map(({ raw }) => raw + end)]
  download(`rejected.${rows.format}`, 'text/plain', parts)
}

/** Adds plants, which have ids, until one attempt fails for a reason that concerns all. Refused rows go to the tally. */
async function addAll(
  rows: readonly PlantRow[],
  tally: Tally,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<void> {
  // The log would show nothing else.
  const client = connect(token.get(), fetch.bind(globalThis))
  // The workers share this iterator; each takes the next remaining row.
  const left = rows.values()
  let failure: unknown
  const addSome = async (): Promise<void> => {
    for (const row of left) {
      if (failure !== undefined || signal.aborted) return
      await addOne(row, row.plant as NewPlant & { readonly id: bigint }).catch((cause: unknown) => {
        failure ??= cause
      })
      onProgress()
    }
  }
  const addOne = async (row: PlantRow, plant: NewPlant & { readonly id: bigint }): Promise<void> => {
    try {
      await client.createPlant(plant)
      tally.added += 1
    } catch (refusal) {
      const number = statusOf(refusal)
      if (number === 409 && (await isThere(plant, client))) tally.known += 1
      else if (number === 409 || number === 400) tally.refused.push({ ...row, wrong: wordsOf(refusal) })
      else throw refusal
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, addSome))
  if (failure !== undefined) throw failure
  signal.throwIfAborted()
}

function decode(bytes: Uint8Array): string {
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  const encoding = isWide ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8'
  return new TextDecoder(encoding, { fatal: true }).decode(bytes)
}

/** Makes that button the primary one that a person needs next. */
function offerToClose(isDone: boolean): void {
  submit.classList.toggle('quiet', isDone)
  closer.classList.toggle('main', isDone)
  if (isDone) closer.focus()
}

/** The first rows, and what is wrong in all. */
function previewOf(rows: readonly PlantRow[]): Node[] {
  const wrong = rows.filter((row) => row.wrong !== undefined)
  const shownRows = [...wrong.slice(0, previewRows), ...rows.filter((row) => row.wrong === undefined)]
    .slice(0, previewRows)
    .sort((one, other) => one.line - other.line)
  const sentence = `${plantsOf(rows.length - wrong.length)} to add.`
  const bad = wrong.length === 0 ? '' : ` ${wrong.length.toLocaleString('en')} of the rows cannot be added.`
  const more = rows.length > previewRows ? ` These are ${previewRows} of ${rows.length.toLocaleString('en')} rows.` : ''
  return [make('p', sentence + bad + more), tableOf(shownRows)]
}

/** The rows that were refused, and why. */
function refusedOf(rows: readonly PlantRow[]): Node[] {
  if (rows.length === 0) return []
  const sorted = rows.toSorted((one, other) => one.line - other.line)
  const more = `These are ${refusedRowsMax} of the ${rows.length.toLocaleString('en')} rejected rows.`
  return [make('p', rows.length > refusedRowsMax && more), tableOf(sorted.slice(0, refusedRowsMax))]
}

function tableOf(rows: readonly PlantRow[]): HTMLElement {
  const columns = displayed.slice(0, previewColumnsMax)
  const body = rows.map(({ line, plant, wrong: why, raw }) => {
    const cells = columns.map((column) => {
      const text = plant === undefined ? undefined : textOf(column, plant, printLine)
      return text === undefined ? make('span.hint', '-') : shown(text)
    })
    const fault = make('td.error', { colspan: String(columns.length) }, spoken(`${why} `), shown(raw.slice(0, 100)))
    return [String(line), ...(why === undefined ? cells : [fault])]
  })
  return makeTable(['Line', ...columns.map(({ title }) => title)], body)
}

function describe({ added, known, refused }: Tally, all: number, why: string): string {
  const parts = [
    `${plantsOf(added)} added`,
    ...(known > 0 ? [`${known.toLocaleString('en')} there already`] : []),
    ...(refused.length > 0 ? [`${refused.length.toLocaleString('en')} rejected`] : []),
  ]
  return `${parts.join(', ')} of ${all.toLocaleString('en')} rows.${why}`
}

/**
 * Adds the example plants to the store. Those that an earlier click added count, too.
 *
 * @param onDone receives a sentence about the outcome.
 */
export async function addExamples(onDone: (sentence: string) => Promise<void>): Promise<void> {
  const progress = find('#examples-progress', HTMLProgressElement)
  hush()
  progress.hidden = false
  try {
    const lines = (await (await fetch('site/houseplants.ndjson')).text()).trim().split('\n')
    progress.max = lines.length
    const rows = lines.map((raw, at) => ({ line: at + 1, raw, plant: toPlant(raw) }))
    const tally: Tally = { added: 0, known: 0, refused: [] }
    await addAll(rows, tally, new AbortController().signal, () => {
      progress.value += 1
    })
    const [first] = tally.refused
    const others = first === undefined ? '' : ` Others were rejected: ${first.wrong}.`
    await onDone(`${tally.added + tally.known} example plants were added.${others}`)
  } finally {
    progress.hidden = true
    progress.value = 0
  }
}

/** The example of a line, with samples of whatever else the document requires. */
function toPlant(line: string): NewPlant & { readonly id: bigint } {
  const example = parseExact(line) as NewPlant
  const values = properties.map(({ name, isRequired, schema }) => {
    const value = ownOf(example, name)
    return [name, value === undefined && isRequired ? sampleOf(schema) : value] as const
  })
  return { ...plantOf(values), id: BigInt(example.id) }
}
