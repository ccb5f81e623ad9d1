// Renders the reference from openapi.json: each operation and schema has its own address. It fetches the document and
// sends nothing else.

import { type Child, copy, find, make, makeButton, makeTable, scrollable } from './elements.js'
import { parseExact, printExact, printLine } from './exact-json.js'
import { type Sent, snippetsOf } from './snippets.js'
import { codeNodes } from './texts.js'

type Named<Value> = Readonly<Record<string, Value>>

/**
 * The parts of the document that are shown. Of its references, those to schemas stay; the others are resolved. Each
 * operation has its method, its path, and what it needs.
 */
interface Api {
  readonly openapi: string
  readonly info: { readonly version: string; readonly description?: string }
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly security: readonly Security[]
  readonly paths: Named<Named<Operation>>
  readonly components: {
    readonly schemas: Named<Schema>
    readonly securitySchemes: Named<{ readonly scheme: string; readonly description?: string }>
  }
}

/** The scopes that a token needs, by security scheme. */
type Security = Named<readonly string[]>

interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Security[]
  readonly parameters?: readonly (Field & { readonly name: string; readonly in: string })[]
  readonly requestBody?: { readonly description?: string; readonly content: Content }
  readonly responses: Named<ApiResponse>
}

interface ApiResponse {
  readonly description: string
  readonly headers?: Named<Field>
  readonly content?: Content
}

/** A parameter or a header field. */
interface Field {
  readonly description?: string
  readonly required?: boolean
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Named<Example>
}

/** Bodies by media type. */
type Content = Named<{ readonly schema?: Schema; readonly examples?: Named<Example> }>

interface Example {
  readonly summary?: string
  readonly value: unknown
}

/** The keywords that have a structure; the others are values. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string | undefined
  readonly examples?: readonly unknown[]
  readonly items?: Schema
  readonly properties?: Named<Schema>
  readonly required?: readonly string[]
  readonly allOf?: readonly Schema[]
  readonly [keyword: string]: unknown
}

/** Renders Markdown as elements; none for undefined. */
function fromMarkdown(text = ''): HTMLElement[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map((block) => (block.startsWith('|') ? table(block) : make('p', inline(block))))
}

/** Renders the inline parts of a line. */
function inline(text: string): Child[] {
  return text.split(/(`[^`]+`)/).map((part) => (/^`.+`$/.test(part) ? make('code', part.slice(1, -1)) : part))
}

function table(block: string): HTMLElement {
  const lines = block.split('\n').map((line) => line.replace(/^\||\|$/g, '').split('|'))
  const [head = [], , ...rows] = lines
  const cells = rows.map((row) => row.map((cell) => inline(cell.trim())))
  return make('div.scrolling', scrollable(`Table:${head.join()}`), makeTable(head, cells))
}

/** The base URL of the document's paths, behind any proxy prefix, without a trailing slash. */
const server = new URL('.', location.href).href.replace(/\/$/, '')

const main = find('main')

try {
  const response = await fetch('openapi.json')
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  const api = parseExact(await response.text()) as Api
  draw(resolved(api, api.components) as Api)
} catch (cause) {
  const reason = cause instanceof Error ? cause.message : String(cause)
  main.replaceChildren(
    make('p', { role: 'alert' }, `openapi.json could not be read: ${reason}. Reload the page to try again.`),
  )
}

function draw(api: Api): void {
  const contents = find('#contents')
  const schemas = Object.entries(api.components.schemas)
  const [about, ...policies] = (api.info.description ?? '').split(/^## /m)
  find('#version').textContent = `Version ${api.info.version}, OpenAPI ${api.openapi}`
  main.replaceChildren(
    introduction(api, about),
    ...api.tags.map(({ name, description }) =>
      section(name, titleOf(name), [fromMarkdown(description), operationsOf(api, name)]),
    ),
    ...policies.map((text) => {
      const [title = ''] = text.split('\n')
      return section(title.replaceAll(/\W+/g, '-').toLowerCase(), title, fromMarkdown(text.slice(title.length)))
    }),
    section('schemas', 'Schemas', schemas.map(schemaArticle)),
  )
  contents.replaceChildren(...[...main.querySelectorAll('section[aria-labelledby]')].flatMap(contentsOf))
  // A menu in a narrow window.
  contents.addEventListener('click', () => contents.hidePopover())
  addEventListener('scroll', markCurrent)
  markCurrent()
  // The target of the fragment did not exist when the browser first looked for it.
  if (location.hash !== '') location.replace(location.hash)
}

/** Marks what is read in the contents. */
function markCurrent(): void {
  const parts = [...main.querySelectorAll('article')]
  const current = parts.findLast((part) => part.getBoundingClientRect().top < innerHeight / 3)
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.contents li a'))
    link.ariaCurrent = link.hash === `#${current?.id}` ? 'location' : null
}

/** A part of the document with components in place of the references to them; references to schemas stay. */
function resolved(part: unknown, components: Named<Named<unknown>>): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map((each) => resolved(each, components))
  const { $ref = '' } = part as { readonly $ref?: string }
  const [, kind = '', name = ''] = /^#\/components\/(?!schemas)(\w+)\/(\w+)$/.exec($ref) ?? []
  if (name !== '') return resolved(components[kind]?.[name], components)
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(value, components)]))
}

/** The operations whose first tag is the given one, path by path. */
function operationsOf({ paths, security }: Api, tag: string): Child[] {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ security, ...operation, method, path })),
  )
  return all.filter(({ tags }) => tags?.[0] === tag).map(operationArticle)
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

function introduction(api: Api, about: string | undefined): HTMLElement {
  const schemes = Object.values(api.components.securitySchemes)
  const create = api.paths['/plants']?.['post']
  const documents = ['openapi.json', 'openapi.yaml'].map((href) => make('a', { href }, href))
  return make(
    'section',
    { 'aria-label': 'Introduction' },
    make('h1', 'OpenAPI Plant Store'),
    fromMarkdown(about),
    create && make('div.samples', snippetsOf(request({ ...create, method: 'post', path: '/plants' }), 'quick start')),
    section('server', 'Base URL', make('p', make('code', server), ', described by ', joined(documents), '.')),
    section(
      'authentication',
      'Authentication',
      schemes.map(({ scheme, description }) => [
        make('p', 'Send ', make('code', `Authorization: ${titleOf(scheme)} TOKEN`), '.'),
        fromMarkdown(description),
      ]),
    ),
  )
}

function operationArticle(operation: Operation): HTMLElement {
  const { operationId, summary, description, method, path, parameters = [], requestBody: body } = operation
  const responses = Object.entries(operation.responses)
  return article(
    operationId,
    summary,
    make(
      'p.endpoint',
      make(`span.method.${method}`, method.toUpperCase()),
      make('code', path),
      make('span.hint', operationId),
    ),
    fromMarkdown(description),
    make('p', access(operation.security)),
    make(
      'div.samples',
      snippetsOf(request(operation), `request: ${summary}`),
      examplesOf('Body', body?.content),
      responses.slice(0, 1).map(([status, each]) => examplesOf(`Response ${status}`, each.content)),
    ),
    parameters.length > 0 && [
      make('h4', 'Parameters'),
      make(
        'dl',
        parameters.map((each) => item(each.name, schemaOf(each), [`in ${each.in}`, each.required && 'required'])),
      ),
    ],
    body && [make('h4', 'Body'), fromMarkdown(body.description), content(body.content)],
    make('h4', 'Responses'),
    responses.map((each, index) => responseDetails(each, index > 0 && examplesOf('Example', each[1].content))),
  )
}

function access([security]: readonly Security[] = []): Child {
  if (security === undefined) return 'Needs no token.'
  const [scopes = []] = Object.values(security)
  return ['Needs a token with ', make('code', scopes.join(' ')), '.']
}

function responseDetails([status, response]: readonly [string, ApiResponse], examples: Child): HTMLElement {
  const fields = Object.entries(response.headers ?? {})
  return make(
    'details.response',
    make('summary', make('strong', status), ' ', make('span', inline(response.description))),
    content(response.content ?? {}),
    examples,
    fields.length > 0 && [
      make('p', 'Header fields:'),
      make(
        'dl',
        fields.map(([name, field]) => item(name, schemaOf(field), [field.required && 'always'])),
      ),
    ],
  )
}

/** The schema of a parameter or header field, with the description and examples given beside it. */
function schemaOf({ schema, description, example, examples = {} }: Field): Schema {
  const all = [example, ...Object.values(examples).map(({ value }) => value)].filter((value) => value !== undefined)
  return { ...schema, ...(all.length > 0 && { examples: all }), description }
}

/** Bodies by media type. */
function content(bodies: Content): Child[] {
  return Object.entries(bodies).map(([type, { schema }]) => [
    make('p', make('code', type), schema && [': ', typeOf(schema)]),
    schema?.properties && properties(schema),
  ])
}

/** The examples of each media type, of which a person picks the one that is shown. */
function examplesOf(label: string, bodies: Content = {}): Child[] {
  return Object.values(bodies).map(({ examples = {} }) => {
    const all = Object.entries(examples).map(([name, { summary = name, value }]) => ({ summary, value }))
    const block = make('pre', scrollable(label))
    const show = (at: number): void => block.replaceChildren(...codeNodes(printExact(all[at]?.value ?? '', '', 24)))
    const options = all.map(({ summary }) => make('option', summary))
    const picker = make('select', { 'aria-label': label }, options)
    picker.addEventListener('change', () => show(picker.selectedIndex))
    const attributes = { class: 'quiet', 'aria-label': `Copy ${label}` }
    const copier = makeButton('Copy', (button) => copy(block.textContent, button, block), attributes)
    show(0)
    const name = all.length > 1 ? picker : make('span.hint', label)
    return all.length > 0 && make('div.code', make('div', name, copier), block)
  })
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
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    return make('a', { href: `#schema-${name}` }, name)
  }
  if (schema.type === 'array') return ['array of ', typeOf(schema.items ?? {})]
  const type = [schema.type ?? 'any value'].flat().join(' or ')
  return schema['format'] === undefined ? type : `${type} (${schema['format']})`
}

/** A request of an operation, with the examples of the document. */
function request({ method, path, requestBody, parameters = [], security = [] }: Operation): Sent {
  const target = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((at, { name, example }) => at.replace(`{${name}}`, printLine(example ?? 1).replace(/"/g, '')), path)
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {})
  return {
    method: method.toUpperCase(),
    url: new URL(server + target),
    hasToken: security.length > 0,
    fields: requestBody ? [['content-type', 'application/json']] : [],
    body: example && printLine(example.value),
  }
}

function sample(value: unknown): HTMLElement {
  return make('code', typeof value === 'string' ? value : printLine(value))
}

function joined(parts: readonly Child[]): Child[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part]))
}

function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
