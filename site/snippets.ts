// A request as code to paste: curl, JavaScript with the client, Python.

import { base } from './address.js'
import { make } from './elements.js'
import { parseExact, printLine } from './exact-json.js'
import { escaped, makeCode } from './texts.js'

/** A header field. */
export type HeaderField = readonly [name: string, value: string]

/** What is sent. */
export interface Sent {
  readonly method: string
  readonly url: URL
  /** Without Authorization. */
  readonly fields: readonly HeaderField[]
  readonly body?: string | undefined
  /** False for an operation that needs no token. */
  readonly hasToken?: boolean
}

const languages: Readonly<Record<string, (sent: Sent) => string>> = { curl, JavaScript: javascript, Python: python }
const languageKey = 'plantstore-language'
const kept = localStorage.getItem(languageKey) ?? ''
let chosen = Object.hasOwn(languages, kept) ? kept : 'curl'

/** A request as code, in the language that a person chose last. Without a name, it says what TOKEN is. */
export function snippetsOf(sent: Sent, name?: string): HTMLElement {
  const codes = Object.entries(languages).map(([language, print]) => [language, escaped(print(sent))] as const)
  const hint = make('p.hint', 'First give your token to the shell: ', make('code', 'export TOKEN=plt_...'))
  return make(
    'div.snippets',
    makeCode(name ?? 'Request as code', Object.fromEntries(codes), chosen, choose),
    name === undefined && hint,
  )
}

/** Shows every request of the page in a language, and keeps it for later visits. */
function choose(language: string): void {
  if (language === chosen) return
  chosen = language
  localStorage.setItem(languageKey, language)
  for (const tab of document.querySelectorAll<HTMLElement>('.snippets .tabs button'))
    if (tab.textContent === language) tab.click()
}

/** A command for a shell in which TOKEN is set. */
export function curl({ method, url, hasToken = true, fields, body }: Sent): string {
  return [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url.href)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...meantFields(fields).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ')
}

/** Quotes a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Header fields that change what the server does. */
const meant = ['accept', 'content-type', 'idempotency-key', 'if-match', 'if-none-match']

/** A module for Node.js or a page that has the token. */
function javascript({ method, url, fields, body, hasToken = true }: Sent): string {
  const field = (name: string): string | undefined => fields.find((each) => each[0] === name)?.[1]
  const filters = [...url.searchParams]
    .map(([name, value]) => `${name}: ${name === 'limit' ? value : JSON.stringify(value)}`)
    .join(', ')
  const query = filters && `{ ${filters} }`
  const path = url.pathname.slice(base.pathname.length)
  const id = /^plants\/(-?\d+)$/.exec(path)?.[1]
  const plant = valueLiteral(parseExact(body ?? '{}'))
  const match = field('if-match')
  const options = match === undefined ? '' : `, { ifMatch: ${JSON.stringify(match)} }`
  const isStream = field('accept') === 'text/event-stream'
  const getter = (path || 'home').replaceAll(/(?:^|\.)\w/g, (start) => start.slice(-1).toUpperCase())
  const calls: Readonly<Record<string, string>> = {
    'POST plants': `console.log(await client.createPlant(${plant}))`,
    'GET plants': `for await (const plant of client.listPlants(${query})) console.log(plant)`,
    'GET changes': `for await (const change of client.${isStream ? 'followChanges' : 'listChanges'}(${query})) console.log(change)`,
    'GET site/': `console.log(await client.getSiteFile(${JSON.stringify(path.slice('site/'.length))}))`,
    'GET plants/': `console.log(await client.getPlant(${id}n))`,
    'PUT plants/': `console.log(await client.replacePlant(${id}n, ${plant}${options}))`,
    'DELETE plants/': `await client.deletePlant(${id}n${options})`,
  }
  return [
    "import { PlantStoreClient } from 'plantstore/client'",
    '',
    `const client = new PlantStoreClient({ url: ${JSON.stringify(base.href)}${hasToken ? ', token: process.env.TOKEN' : ''} })`,
    calls[`${method} ${path.replace(/^(plants|site)\/.+/, '$1/')}`] ?? `console.log(await client.get${getter}())`,
  ].join('\n')
}

/** A script that needs the standard library alone. A text of JSON is also a literal of Python. */
function python({ method, url, fields, body, hasToken = true }: Sent): string {
  const shown = meantFields(fields).map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  return [
    'import os',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url.href)},`,
    `    method=${JSON.stringify(method)},`,
    '    headers={',
    ...(hasToken ? ['        "Authorization": "Bearer " + os.environ["TOKEN"],'] : []),
    ...shown,
    '    },',
    ...(body === undefined ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n')
}

function meantFields(fields: readonly HeaderField[]): readonly HeaderField[] {
  return fields.filter(([name]) => meant.includes(name))
}

/** A literal of JavaScript, its integers exact. */
function valueLiteral(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(valueLiteral).join(', ')}]`
  if (typeof value !== 'object' || value === null) return printLine(value)
  const parts = Object.entries(value).map(([name, each]) => `${nameLiteral(name)}: ${valueLiteral(each)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

/** In brackets, `__proto__` is not the prototype. */
function nameLiteral(name: string): string {
  return /^[a-z$][\w$]*$/i.test(name) ? name : `[${JSON.stringify(name)}]`
}
