// `plantstore plant`: reads and changes plants over HTTP.

import { type Change, PlantStoreClient, PlantStoreError, type StoredPlant } from '../client/client.ts'
import { type ChangeKind, changeJson } from '../domain/change.ts'
import { OperatorError, SettingError } from '../domain/errors.ts'
import { plantJson, plantOf } from '../domain/plant.ts'
import { withoutControls } from '../domain/shown.ts'
import { formatPlant } from '../files/formats.ts'
import { limits } from '../limits.ts'
import { print, type Terminal } from '../terminal.ts'
import { escaping } from './escapes.ts'
import { stopOnSignal } from './stopping.ts'
import { formatTable } from './table.ts'

export interface ServerOptions {
  readonly url: string
  readonly token: string | undefined
  /** Prints JSON even on a terminal. */
  readonly json: boolean
}

export interface ListOptions {
  readonly tag?: string | undefined
  readonly name?: string | undefined
  readonly after?: string | undefined
  readonly limit?: string | undefined
  /** Prints all pages, not only the first. */
  readonly all: boolean
}

export interface ChangeOptions {
  readonly tag?: string | undefined
  readonly ifMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
}

export interface WatchOptions {
  readonly after?: string | undefined
  readonly kind?: ChangeKind | undefined
  /** Begins with the oldest change that the server has. */
  readonly all: boolean
}

/** A person is waiting: report an unreachable server soon, but outlast a restart. */
const triesMax = 4

/** Prints a plant; with `onlyEtag`, only the ETag that `--if-match` takes. */
export async function plantGet(
  id: string,
  { onlyEtag }: { readonly onlyEtag: boolean },
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  const { etag, ...plant } = await answered(server, clientOf(server).getPlant(id))
  if (onlyEtag) {
    if (etag === undefined) throw new OperatorError(`${server.url} sent no ETag`)
    await print(terminal.stdout, `${escaping(terminal)(etag)}\n`)
    return
  }
  await (asJson(server, terminal) ? jsonPrinter(terminal)([plant]) : printTable([plant], terminal))
}

export async function plantList(list: ListOptions, server: ServerOptions, terminal: Terminal): Promise<void> {
  const { all, limit, ...filters } = list
  // Sends a value that is not a number unchanged, so that the server explains the error.
  const pages = clientOf(server)
    .listPlants({ ...filters, limit: limit as unknown as number | undefined })
    .pages()
  const printJson = asJson(server, terminal) ? jsonPrinter(terminal) : undefined
  const plants: StoredPlant[] = []
  for (let next: string | undefined, isFirst = true; isFirst || (all && next !== undefined); isFirst = false) {
    const { value: page } = await answered(server, pages.next())
    if (page === undefined) break
    next = page.next
    if (printJson === undefined) plants.push(...page.plants)
    else await printJson(page.plants)
    if (next !== undefined && !all) {
      terminal.stderr.write(`There are more plants; use --after ${withoutControls(next)} or --all\n`)
    }
  }
  if (printJson === undefined) await printTable(plants, terminal)
}

export async function plantCreate(
  id: string,
  name: string,
  { tag, idempotencyKey }: ChangeOptions,
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  // Sends the id as typed, so that the server validates it and explains errors.
  await answered(server, clientOf(server).createPlant({ id, ...plantOf({ name, tag }) }, { idempotencyKey }))
  terminal.stderr.write(`Plant ${id} was created.\n`)
}

export async function plantReplace(
  id: string,
  name: string,
  { tag, ifMatch }: ChangeOptions,
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  await answered(server, clientOf(server).replacePlant(id, plantOf({ name, tag }), { ifMatch }))
  terminal.stderr.write(`Plant ${id} was replaced.\n`)
}

export async function plantDelete(
  id: string,
  { ifMatch }: ChangeOptions,
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  await answered(server, clientOf(server).deletePlant(id, { ifMatch }))
  terminal.stderr.write(`Plant ${id} was deleted.\n`)
}

/** Prints changes as they happen, until a signal. */
export async function plantWatch(
  { after, kind, all }: WatchOptions,
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  const stopping = stopOnSignal(terminal, () => {})
  const query = { after: after ?? (all ? undefined : 'now'), kind }
  let told = ''
  const onFailure = ({ message }: Error): void => {
    if (message !== told) terminal.stderr.write(`${withoutControls(message)}; trying again\n`)
    told = message
  }
  const changes = clientOf(server).followChanges(query, { signal: stopping, onFailure })
  const toShown = escaping(terminal)
  const toLine = asJson(server, terminal) ? toJsonLine : toShownLine
  try {
    for (;;) {
      const { value: change } = await answered(server, changes.next())
      if (change === undefined) return
      told = ''
      await print(terminal.stdout, `${toShown(toLine(change))}\n`)
    }
  } catch (cause) {
    if (!stopping.aborted) throw cause
  }
}

function toJsonLine({ position, time, kind, plant, callerId }: Change): string {
  return changeJson(position, time, kind, plantJson(plant.id, plant.name, plant.tag), callerId)
}

function toShownLine({ time, kind, plant: { id, name, tag } }: Change): string {
  return `${time}  ${kind.padEnd('replaced'.length)}  ${id}  ${name}${tag === undefined ? '' : `  (${tag})`}`
}

function clientOf({ url, token }: ServerOptions): PlantStoreClient {
  return new PlantStoreClient({ url, token, triesMax, timeoutMs: limits.answerMsMax })
}

/** Returns a call's result. Throws OperatorError with the server's message if the server refuses. */
async function answered<T>({ url, token }: ServerOptions, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (cause) {
    // The client rejects some input before sending, such as an id that would be a path segment `.` or `..`.
    if (cause instanceof TypeError) throw new SettingError(cause.message, { cause })
    if (!(cause instanceof PlantStoreError)) throw cause
    const { status, error = status, message } = cause
    if (status === 401 && token === undefined) {
      throw new SettingError(`${url} needs an access token: set PLANTSTORE_TOKEN, or give one with --token`)
    }
    const text = withoutControls(message)
    if (status === undefined) throw new OperatorError(`${text}; ${adviceFor(cause)}`, { cause })
    if (status < 400) throw new OperatorError(text)
    // On 401, name the server: the token may belong to another one.
    throw new OperatorError(`${status === 401 ? `${url} answered ` : ''}${error}: ${text}`)
  }
}

/** OpenSSL's codes for a certificate whose issuer Node.js does not trust. */
const untrustedCodes = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

function adviceFor({ cause }: PlantStoreError): string {
  const code = (cause as { readonly cause?: { readonly code?: string } } | undefined)?.cause?.code ?? ''
  if (untrustedCodes.includes(code)) {
    return 'set NODE_EXTRA_CA_CERTS to a file with the certificate of its CA'
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use a host name from its certificate in the URL'
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'if the server uses plain HTTP, begin the URL with http://'
  if (code === 'CERT_HAS_EXPIRED') return 'renew its certificate'
  return 'is the server running there?'
}

function asJson({ json }: ServerOptions, terminal: Terminal): boolean {
  return json || terminal.stdout.isTTY !== true
}

function jsonPrinter(terminal: Terminal): (plants: readonly StoredPlant[]) => Promise<unknown> {
  const toShown = escaping(terminal)
  return (plants) => print(terminal.stdout, plants.map((plant) => formatPlant(plant, 'ndjson', toShown)).join(''))
}

async function printTable(plants: readonly StoredPlant[], terminal: Terminal): Promise<void> {
  const rows = plants.map(({ id, name, tag }) => [String(id), withoutControls(tag ?? ''), withoutControls(name)])
  await print(terminal.stdout, await formatTable([['ID', 'TAG', 'NAME'], ...rows], terminal.stdout))
}
