// `plantstore plant`: reads and changes plants of a server over HTTP.

import { OperatorError } from '../domain/errors.ts'
import type { NewPlant, Plant } from '../domain/plant.ts'
import { decodeJson } from '../json/decode.ts'
import { limits } from '../limits.ts'
import { formatPlant } from './plant-files.ts'
import { formatTable } from './table.ts'
import { print, type Terminal, withoutControls } from './terminal.ts'

export interface ServerOptions {
  readonly url: string
  readonly token: string | undefined
  /** JSON also on a terminal. */
  readonly json: boolean
}

export interface ListOptions {
  readonly tag?: string
  readonly name?: string
  readonly after?: string
  readonly limit?: string
  /** Every page instead of the first. */
  readonly all: boolean
}

export interface ChangeOptions {
  readonly tag?: string
  readonly ifMatch?: string
  readonly idempotencyKey?: string
}

interface Received {
  readonly value: unknown
  readonly headers: Headers
}

export async function plantGet(id: string, server: ServerOptions, terminal: Terminal): Promise<void> {
  const { value } = await ask(server, 'GET', `/plants/${encodeURIComponent(id)}`)
  await show([value as NewPlant], server, terminal)
}

export async function plantList(list: ListOptions, server: ServerOptions, terminal: Terminal): Promise<void> {
  const { all, ...filters } = list
  let target: string | undefined = `/plants?${new URLSearchParams(filters as Record<string, string>)}`
  const plants: NewPlant[] = []
  while (target !== undefined) {
    const { value, headers }: Received = await ask(server, 'GET', target)
    if (!Array.isArray(value)) throw new OperatorError(`${server.url} did not answer with a list of plants`)
    const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    if (asJson(server, terminal)) await show(value as NewPlant[], server, terminal)
    else plants.push(...(value as NewPlant[]))
    if (next !== undefined && !all)
      terminal.stderr.write(
        `There are more plants; use --after ${new URLSearchParams(next.split('?')[1]).get('after')} or --all\n`,
      )
    // Behind a proxy the path of a Link is not one below --url.
    target = all && next !== undefined ? next.replace(/^[^?]*/, '/plants') : undefined
  }
  if (!asJson(server, terminal)) await show(plants, server, terminal)
}

export async function plantCreate(
  id: string,
  name: string,
  change: ChangeOptions,
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  // The id goes out as it was typed: the server validates it, and says what is wrong with it.
  const digits = /^(0|-?[1-9][0-9]*)$/.test(id) ? id : JSON.stringify(id)
  const body = `{"id":${digits},${JSON.stringify(plantOf(name, change)).slice(1)}`
  const headers: Record<string, string> =
    change.idempotencyKey === undefined ? {} : { 'Idempotency-Key': change.idempotencyKey }
  await ask(server, 'POST', '/plants', headers, body)
  terminal.stderr.write(`Plant ${id} was created.\n`)
}

export async function plantReplace(
  id: string,
  name: string,
  change: ChangeOptions,
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  await ask(server, 'PUT', `/plants/${encodeURIComponent(id)}`, ifMatch(change), JSON.stringify(plantOf(name, change)))
  terminal.stderr.write(`Plant ${id} was replaced.\n`)
}

export async function plantDelete(
  id: string,
  change: ChangeOptions,
  server: ServerOptions,
  terminal: Terminal,
): Promise<void> {
  await ask(server, 'DELETE', `/plants/${encodeURIComponent(id)}`, ifMatch(change))
  terminal.stderr.write(`Plant ${id} was deleted.\n`)
}

function plantOf(name: string, { tag }: ChangeOptions): Plant {
  return tag === undefined ? { name } : { name, tag }
}

function ifMatch(change: ChangeOptions): Record<string, string> {
  return change.ifMatch === undefined ? {} : { 'If-Match': change.ifMatch }
}

/** Sends a request. Throws OperatorError with the server's own words when it refuses. */
async function ask(
  { url, token }: ServerOptions,
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Received> {
  try {
    const response = await fetch(url.replace(/\/$/, '') + target, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(limits.answerMsMax),
    })
    if (response.status === 401 && token === undefined) {
      throw new OperatorError(`${url} needs an access token: set PLANTSTORE_TOKEN, or give one with --token`)
    }
    return readAnswer(url, response, Buffer.from(await response.arrayBuffer()))
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause
    if (cause instanceof Error && cause.name === 'TimeoutError') {
      throw new OperatorError(`${url} did not answer within ${limits.answerMsMax / 1000} s`, { cause })
    }
    const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause)
    throw new OperatorError(`${url} cannot be reached: ${why}; is the server running there?`, { cause })
  }
}

function readAnswer(url: string, response: Response, bytes: Buffer): Received {
  const value = toJson(response, bytes)
  if (!response.ok) {
    const { message, error } = (value ?? {}) as { message?: unknown; error?: unknown }
    const text = typeof message === 'string' ? withoutControls(message) : response.statusText
    const number = typeof error === 'bigint' ? error : response.status
    // The token may be one of another server.
    const who = response.status === 401 ? `${url} answered ` : ''
    throw new OperatorError(`${who}${number}: ${text}`)
  }
  const isPlantStore = response.status === 204 || typeof value === 'object'
  if (!isPlantStore) throw new OperatorError(`${url} did not answer as a plant store does; is it the right server?`)
  return { value, headers: response.headers }
}

function toJson(response: Response, bytes: Buffer): unknown {
  if (!response.headers.get('content-type')?.startsWith('application/json')) return undefined
  try {
    return decodeJson(bytes, limits.jsonDepthMax)
  } catch {
    return undefined
  }
}

function asJson({ json }: ServerOptions, terminal: Terminal): boolean {
  return json || terminal.stdout.isTTY !== true
}

async function show(plants: readonly NewPlant[], server: ServerOptions, terminal: Terminal): Promise<void> {
  if (asJson(server, terminal)) {
    await print(terminal.stdout, plants.map((plant) => formatPlant(plant, 'ndjson')).join(''))
    return
  }
  const rows = plants.map(({ id, name, tag }) => [String(id), withoutControls(tag ?? ''), withoutControls(name)])
  await print(terminal.stdout, formatTable([['ID', 'TAG', 'NAME'], ...rows], terminal.stdout))
}
