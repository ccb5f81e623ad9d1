// A request as code to paste, which needs nothing else: curl, JavaScript, Python.

import { make, storages } from './elements.js'
import { reprint } from './exact-json.js'
import { escaped, makeCode } from './texts.js'

/** What is sent. */
export interface Sent {
  readonly method: string
  readonly url: URL
  /** The header fields without Authorization, such as `['if-match', '"1"']`. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body?: string | undefined
  /** False for an operation that needs no token. */
  readonly hasToken?: boolean
}

const languages: Readonly<Record<string, (sent: Sent) => string>> = { curl, JavaScript: javascript, Python: python }
const languageKey = 'plantstore-language'
const kept = storages[1]?.getItem(languageKey) ?? ''
let chosen = Object.hasOwn(languages, kept) ? kept : 'curl'

/** A request as code, in the language that a person chose last. Without a name, it says what TOKEN is. */
export function snippetsOf(sent: Sent, name?: string): HTMLElement {
  const codes = Object.entries(languages).map(([language, print]) => [language, escaped(print(sent))] as const)
  const hint = make('p.hint', 'First give your token to the shell: ', make('code', 'export TOKEN=plt_...'))
  const code = makeCode(name ?? 'Request as code', Object.fromEntries(codes), chosen, choose)
  return make('div.snippets', code, name === undefined && hint)
}

/** Shows every request of the page in a language, and keeps it for later visits. */
function choose(language: string): void {
  if (language === chosen) return
  chosen = language
  storages[1]?.setItem(languageKey, language)
  for (const tab of document.querySelectorAll<HTMLElement>('.snippets .tabs button'))
    if (tab.textContent === language) tab.click()
}

/** A command for a shell in which TOKEN is set. */
export function curl({ method, url, hasToken = true, fields, body }: Sent): string {
  return [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url.href)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...fields.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // JSON has its properties on lines of their own, below the option.
    ...(body === undefined ? [] : [`-d ${quoted(reprint(body, '  ', 24))}`]),
  ].join(' \\\n  ')
}

/** Quotes a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A module for Node.js. */
function javascript(sent: Sent): string {
  return `const response = await fetch(${JSON.stringify(sent.url.href)}, {
  method: ${JSON.stringify(sent.method)},
  headers: {${headersOf(sent, '"Bearer " + process.env.TOKEN', '\n    ')}
  },${sent.body === undefined ? '' : `\n  body: ${literal(sent.body)},`}
})
console.log(response.status, await response.text())`
}

/** A script that needs the standard library alone. */
function python(sent: Sent): string {
  return `import os
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(sent.url.href)},
    method=${JSON.stringify(sent.method)},
    headers={${headersOf(sent, '"Bearer " + os.environ["TOKEN"]', '\n        ')}
    },${sent.body === undefined ? '' : `\n    data=${literal(sent.body)}.encode(),`}
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())`
}

/** The members of an object of JavaScript, or of a dictionary of Python, each on a line. */
function headersOf({ fields, hasToken = true }: Sent, token: string, line: string): string {
  const members = fields.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  return [...(hasToken ? [`"Authorization": ${token},`] : []), ...members].map((member) => line + member).join('')
}

/** A text without line breaks as a literal of JavaScript and Python; JSON stays readable in it. */
function literal(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`
}
