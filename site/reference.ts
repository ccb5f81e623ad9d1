// Renders the reference from openapi.json: each operation and schema has its own address. It fetches the document and
// sends nothing else.

import { type Child, find, make } from './elements.js'
import { parseExact, printExact, printLine } from './exact-json.js'
import { fromMarkdown, inline, scrolling } from './markdown.js'
import {
  type Api,
  type ApiResponse,
  type Content,
  type Header,
  nameOf,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  type Reference,
  resolve,
  type Schema,
  type Security,
} from './openapi.js'
import { curl, quoted } from './shell.js'

/** The base URL of the document's paths, behind any proxy prefix, without a trailing slash. */
const server = new URL('.', location.href).href.replace(/\/$/, '')

const main = find('main')

try {
  const response = await fetch('openapi.json')
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  draw(parseExact(await response.text()) as Api)
} catch (cause) {
  const reason = cause instanceof Error ? cause.message : String(cause)
  main.replaceChildren(
    make('p', { role: 'alert' }, `openapi.json could not be read: ${reason}. Reload the page to try again.`),
  )
}

function draw(api: Api): void {
  const schemas = Object.entries(api.components.schemas)
  find('#version').textContent = `Version ${api.info.version}, OpenAPI ${api.openapi}`
  main.replaceChildren(
    introduction(api),
    ...api.tags.map(({ name, description }) => {
      const operations = operationsOf(api, name).map((operation) => operationArticle(api, operation))
      return section(name, titleOf(name), [fromMarkdown(description), operations])
    }),
    section('schemas', 'Schemas', schemas.map(schemaArticle)),
  )
  find('#contents').replaceChildren(...[...main.querySelectorAll('section[aria-labelledby]')].flatMap(contentsOf))
  const toc = find('#toc', HTMLDetailsElement)
  const isWide = matchMedia('(min-width: 60rem)')
  const fold = () => {
    toc.open = isWide.matches
  }
  isWide.addEventListener('change', fold)
  fold()
  // The target of the fragment did not exist when the browser first looked for it.
  if (location.hash !== '') location.replace(location.hash)
}

/** The title of a section, and links to its articles. */
function contentsOf(part: Element): HTMLElement[] {
  const items = [...part.querySelectorAll('article')].map((each) => {
    const title = make('span', find('h3', HTMLElement, each).textContent)
    return make('li', make('a', { href: `#${each.id}` }, title, each.querySelector('.method')?.cloneNode(true)))
  })
  const { id, textContent } = find('h2', HTMLElement, part)
  return [make('h2', make('a', { href: `#${id}` }, textContent)), make('ul', items)]
}

function section(id: string, title: string, content: Child): HTMLElement {
  return make('section', { 'aria-labelledby': id }, make('h2', { id }, title), content)
}

/** A part of a section with an address. */
function article(id: string, title: string, ...content: readonly Child[]): HTMLElement {
  const heading = make('h3', { id: `${id}-title` }, make('a', { href: `#${id}` }, title))
  return make('article', { id, 'aria-labelledby': `${id}-title` }, heading, content)
}

function introduction(api: Api): HTMLElement {
  const schemes = Object.values(api.components.securitySchemes)
  return make(
    'section',
    { 'aria-label': 'Introduction' },
    make('h1', 'OpenAPI Plant Store'),
    make('p', 'Create a plant and list all, with a token of this server:'),
    code('Quick start', quickStart()),
    fromMarkdown(api.info.description),
    make('h2', { id: 'server' }, 'Server'),
    make('p', 'The base URL is ', make('code', server), '.'),
    make('h2', { id: 'authentication' }, 'Authentication'),
    schemes.map(({ scheme, description }) => [
      make('p', 'Send ', make('code', `Authorization: ${titleOf(scheme)} TOKEN`), '.'),
      fromMarkdown(description),
    ]),
  )
}

function quickStart(): string {
  const send = `curl ${quoted(`${server}/plants`)} -H "Authorization: Bearer $TOKEN"`
  return `export TOKEN=plt_...\n${send} --json '{"id": 1, "name": "Fern"}'\n${send}`
}

function operationArticle(api: Api, operation: PlacedOperation): HTMLElement {
  const { operationId, summary, description, method, path, requestBody: body } = operation
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter, api.components.parameters))
  const security = operation.security ?? api.security
  return article(
    operationId,
    summary,
    make('p', methodLabel(method), ' ', make('code', path), ' ', make('span.hint', operationId)),
    fromMarkdown(description),
    make('p', access(security)),
    parameters.length > 0 && [make('h4', 'Parameters'), parameterList(parameters)],
    body && [make('h4', 'Body'), fromMarkdown(body.description), content(body.content, 'The body')],
    make('h4', 'With curl'),
    code(`curl: ${summary}`, request(operation, parameters, security)),
    make('h4', 'Responses'),
    Object.entries(operation.responses).map(([status, response]) => responseDetails(api, status, response)),
  )
}

function access([security]: readonly Security[]): Child {
  if (security === undefined) return 'Needs no token.'
  const [scopes = []] = Object.values(security)
  return ['Needs a token with ', make('code', scopes.join(' ')), '.']
}

function parameterList(parameters: readonly Parameter[]): HTMLElement {
  return make(
    'dl',
    parameters.map((parameter) =>
      item(parameter.name, schemaOf(parameter), [`in ${parameter.in}`, parameter.required && 'required']),
    ),
  )
}

function responseDetails(api: Api, status: string, response: ApiResponse | Reference): HTMLElement {
  const { description, headers = {}, content: bodies = {} } = resolve(response, api.components.responses)
  const fields = Object.entries(headers).map(
    ([name, header]) => [name, resolve(header, api.components.headers)] as const,
  )
  return make(
    'details.response',
    make('summary', make('strong', status), ' ', make('span', inline(description))),
    content(bodies, `The body of ${status}`),
    fields.length > 0 && [
      make('p', 'Header fields:'),
      make(
        'dl',
        fields.map(([name, header]) => item(name, schemaOf(header), [header.required && 'always'])),
      ),
    ],
  )
}

/** The schema of a parameter or header field, with the description and examples given beside it. */
function schemaOf({ schema, description, example, examples = {} }: Header): Schema {
  const all = [example, ...Object.values(examples).map(({ value }) => value)].filter((value) => value !== undefined)
  return { ...schema, ...(all.length > 0 && { examples: all }), description }
}

/** Bodies by media type, with examples. */
function content(bodies: Content, label: string): Child[] {
  return Object.entries(bodies).map(([type, { schema, examples = {} }]) => [
    make('p', make('code', type), schema && [': ', typeOf(schema)]),
    schema?.properties && properties(schema),
    Object.entries(examples).map(([name, example]) => [
      make('p.hint', `Example: ${example.summary ?? wordsOf(name)}`),
      code(`${label}, example ${name}`, printExact(example.value)),
    ]),
  ])
}

function schemaArticle([name, schema]: readonly [string, Schema]): HTMLElement {
  return article(
    `schema-${name}`,
    name,
    fromMarkdown(schema.description),
    (schema.allOf ?? [schema]).map((part) =>
      part.$ref ? make('p', 'All properties of ', typeOf(part), ', and:') : properties(part),
    ),
  )
}

function properties({ properties: all = {}, required = [] }: Schema): HTMLElement {
  return make(
    'dl',
    Object.entries(all).map(([name, schema]) => item(name, schema, [required.includes(name) && 'required'])),
  )
}

/** A named value: its type and constraints, its description, then its properties. */
function item(name: string, schema: Schema, notes: readonly Child[]): HTMLElement[] {
  const known = [typeOf(schema), ...notes.filter(Boolean), ...limitsOf(schema)]
  const inner = schema.properties ? schema : schema.items?.properties && schema.items
  return [
    make('dt', make('code', name), ' ', make('span.hint', joined(known))),
    make(
      'dd',
      fromMarkdown(schema.description),
      schema['pattern'] !== undefined && make('p.hint', 'Pattern: ', sample(schema['pattern'])),
      schema.examples && make('p.hint', 'For example ', joined(schema.examples.map(sample)), '.'),
      inner && properties(inner),
    ),
  ]
}

function limitsOf(schema: Schema): Child[] {
  const { minimum, maximum, minLength, maxLength, maxItems, default: usual, const: only } = schema
  return [
    minimum !== undefined && `from ${printLine(minimum)}`,
    maximum !== undefined && `to ${printLine(maximum)}`,
    maxLength !== undefined && `${minLength ?? 0} to ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems} items`,
    usual !== undefined && `default ${printLine(usual)}`,
    only !== undefined && ['only ', sample(only)],
  ].filter(Boolean)
}

function typeOf(schema: Schema): Child {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref)
    return make('a', { href: `#schema-${name}` }, name)
  }
  if (schema.type === 'array') return ['array of ', typeOf(schema.items ?? {})]
  const { type = 'any value', format } = schema
  return format === undefined ? type : `${type} (${format})`
}

/** A request of an operation, with the examples of the document. */
function request(
  { method, path, requestBody }: PlacedOperation,
  parameters: readonly Parameter[],
  security: readonly Security[],
): string {
  const target = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((at, { name, example }) => at.replace(`{${name}}`, printLine(example ?? 1).replace(/"/g, '')), path)
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {})
  return curl({
    method: method.toUpperCase(),
    url: server + target,
    hasToken: security.length > 0,
    ...(requestBody && { fields: [['Content-Type', 'application/json']] }),
    ...(example && { body: printLine(example.value) }),
  })
}

function code(label: string, text: string): HTMLElement {
  return scrolling(label, make('pre', make('code', text)))
}

function sample(value: unknown): HTMLElement {
  return make('code', typeof value === 'string' ? value : printLine(value))
}

function methodLabel(method: string): HTMLElement {
  return make(`span.method.${method}`, method.toUpperCase())
}

function joined(parts: readonly Child[]): Child[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part]))
}

function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
