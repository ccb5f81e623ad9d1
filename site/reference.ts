// Renders the reference from openapi.json: each operation and schema has its own address. It fetches the document and
// sends nothing else.

import { parseExact, printExact, printLine } from './exact-json.js'
import { find } from './find.js'
import { type Child, element, fromMarkdown, inline, scrolling } from './markdown.js'
import {
  type Api,
  type ApiResponse,
  type Content,
  type Group,
  groupsOf,
  type Header,
  isApi,
  nameOf,
  type Parameter,
  type PlacedOperation,
  type Reference,
  resolve,
  type Schema,
  type Security,
} from './openapi.js'
import { quoted } from './shell.js'

/** The base URL of the document's paths, behind any proxy prefix, without a trailing slash. */
const server = new URL('.', location.href).href.replace(/\/$/, '')

const main = find('main')

try {
  const response = await fetch('openapi.json')
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  const api = parseExact(await response.text())
  if (!isApi(api)) throw new Error('it is not an OpenAPI document')
  draw(api)
} catch (cause) {
  const reason = cause instanceof Error ? cause.message : String(cause)
  main.replaceChildren(
    element('p', { role: 'alert' }, `openapi.json could not be read: ${reason}. Reload the page to try again.`),
  )
}

function draw(api: Api): void {
  const groups = groupsOf(api)
  const schemas = Object.entries(api.components.schemas)
  find('#version').textContent = `Version ${api.info.version}, OpenAPI ${api.openapi}`
  find('#contents').replaceChildren(...contents(groups, schemas))
  main.replaceChildren(
    introduction(api),
    ...groups.map((group) => section(api, group)),
    element(
      'section',
      { 'aria-labelledby': 'schemas' },
      element('h2', { id: 'schemas' }, 'Schemas'),
      schemas.map(([name, schema]) => schemaArticle(name, schema)),
    ),
  )
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

function contents(groups: readonly Group[], schemas: readonly (readonly [name: string, Schema])[]): HTMLElement[] {
  const list = (items: readonly Child[]): HTMLElement =>
    element(
      'ul',
      {},
      items.map((item) => element('li', {}, item)),
    )
  return [
    ...groups.flatMap(({ name, operations }) => [
      element('h2', {}, element('a', { href: `#${name}` }, titleOf(name))),
      list(
        operations.map(({ operationId, summary, method }) =>
          element('a', { href: `#${operationId}` }, element('span', {}, summary), methodLabel(method)),
        ),
      ),
    ]),
    element('h2', {}, element('a', { href: '#schemas' }, 'Schemas')),
    list(schemas.map(([name]) => element('a', { href: `#schema-${name}` }, name))),
  ]
}

function introduction(api: Api): HTMLElement {
  const schemes = Object.values(api.components.securitySchemes)
  return element(
    'section',
    { 'aria-label': 'Introduction' },
    element('h1', {}, 'OpenAPI Plant Store'),
    element('p', {}, 'Create a plant and list all, with a token of this server:'),
    code('Quick start', quickStart()),
    fromMarkdown(api.info.description),
    element('h2', { id: 'server' }, 'Server'),
    element('p', {}, 'The base URL is ', element('code', {}, server), '.'),
    element('h2', { id: 'authentication' }, 'Authentication'),
    schemes.map(({ scheme, description }) => [
      element('p', {}, 'Send ', element('code', {}, `Authorization: ${titleOf(scheme)} TOKEN`), '.'),
      fromMarkdown(description),
    ]),
  )
}

function quickStart(): string {
  const send = `curl ${quoted(`${server}/plants`)} -H "Authorization: Bearer $TOKEN"`
  return `export TOKEN=plt_...\n${send} --json '{"id": 1, "name": "Fern"}'\n${send}`
}

function section(api: Api, { name, description, operations }: Group): HTMLElement {
  return element(
    'section',
    { 'aria-labelledby': name },
    element('h2', { id: name }, titleOf(name)),
    fromMarkdown(description),
    operations.map((operation) => operationArticle(api, operation)),
  )
}

function operationArticle(api: Api, operation: PlacedOperation): HTMLElement {
  const { operationId, summary, description, method, path, requestBody: body } = operation
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter, api.components.parameters))
  const security = operation.security ?? api.security
  return element(
    'article',
    { id: operationId, 'aria-labelledby': `${operationId}-title` },
    element('h3', { id: `${operationId}-title` }, element('a', { href: `#${operationId}` }, summary)),
    element(
      'p',
      { class: 'call' },
      methodLabel(method),
      ' ',
      element('code', { class: 'path' }, path),
      ' ',
      element('span', { class: 'muted' }, operationId),
    ),
    fromMarkdown(description),
    element('p', { class: 'access' }, access(security)),
    parameters.length > 0 && [element('h4', {}, 'Parameters'), parameterList(parameters)],
    body && [element('h4', {}, 'Body'), fromMarkdown(body.description), content(body.content, 'The body')],
    element('h4', {}, 'With curl'),
    code(`curl: ${summary}`, curl(operation, parameters, security)),
    element('h4', {}, 'Responses'),
    Object.entries(operation.responses).map(([status, response]) => responseDetails(api, status, response)),
  )
}

function access([security]: readonly Security[]): Child {
  if (security === undefined) return 'Needs no token.'
  const [scopes = []] = Object.values(security)
  return ['Needs a token with ', element('code', {}, scopes.join(' ')), '.']
}

function parameterList(parameters: readonly Parameter[]): HTMLElement {
  return element(
    'dl',
    {},
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
  return element(
    'details',
    { class: 'response' },
    element('summary', {}, element('strong', {}, status), ' ', element('span', {}, inline(description))),
    content(bodies, `The body of ${status}`),
    fields.length > 0 && [
      element('p', {}, 'Header fields:'),
      element(
        'dl',
        {},
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
    element('p', {}, element('code', {}, type), schema && [': ', typeOf(schema)]),
    schema?.properties && properties(schema),
    Object.entries(examples).map(([name, example]) => [
      element('p', { class: 'muted' }, `Example: ${example.summary ?? wordsOf(name)}`),
      code(`${label}, example ${name}`, printExact(example.value)),
    ]),
  ])
}

function schemaArticle(name: string, schema: Schema): HTMLElement {
  const id = `schema-${name}`
  return element(
    'article',
    { id, 'aria-labelledby': `${id}-title` },
    element('h3', { id: `${id}-title` }, element('a', { href: `#${id}` }, name)),
    fromMarkdown(schema.description),
    (schema.allOf ?? [schema]).map((part) =>
      part.$ref ? element('p', {}, 'All properties of ', typeOf(part), ', and:') : properties(part),
    ),
  )
}

function properties({ properties: all = {}, required = [] }: Schema): HTMLElement {
  return element(
    'dl',
    {},
    Object.entries(all).map(([name, schema]) => item(name, schema, [required.includes(name) && 'required'])),
  )
}

/** A named value: its type and constraints, its description, then its properties. */
function item(name: string, schema: Schema, notes: readonly Child[]): HTMLElement[] {
  const known = [typeOf(schema), ...notes.filter(Boolean), ...limitsOf(schema)]
  const inner = schema.properties ? schema : schema.items?.properties && schema.items
  return [
    element('dt', {}, element('code', {}, name), ' ', element('span', { class: 'muted' }, joined(known))),
    element(
      'dd',
      {},
      fromMarkdown(schema.description),
      schema.pattern && element('p', { class: 'muted' }, 'Pattern: ', element('code', {}, schema.pattern)),
      schema.examples && element('p', { class: 'muted' }, 'For example ', joined(schema.examples.map(sample)), '.'),
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
    return element('a', { href: `#schema-${name}` }, name)
  }
  if (schema.type === 'array') return ['array of ', typeOf(schema.items ?? {})]
  return schema.format ? `${schema.type} (${schema.format})` : (schema.type ?? 'any value')
}

/** Formats a request for pasting into a shell. */
function curl(
  { method, path, requestBody }: PlacedOperation,
  parameters: readonly Parameter[],
  security: readonly Security[],
): string {
  const target = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((at, { name, example }) => at.replace(`{${name}}`, printLine(example ?? 1).replace(/"/g, '')), path)
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {})
  return [
    `curl -i${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} ${quoted(server + target)}`,
    security.length > 0 && '-H "Authorization: Bearer $TOKEN"',
    requestBody && "-H 'Content-Type: application/json'",
    example && `-d ${quoted(printLine(example.value))}`,
  ]
    .filter(Boolean)
    .join(' \\\n  ')
}

function code(label: string, text: string): HTMLElement {
  return scrolling(label, element('pre', {}, element('code', {}, text)))
}

function sample(value: unknown): HTMLElement {
  return element('code', {}, typeof value === 'string' ? value : printLine(value))
}

function methodLabel(method: string): HTMLElement {
  return element('span', { class: `method ${method}` }, method.toUpperCase())
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
