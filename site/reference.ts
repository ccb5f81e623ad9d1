// Renders the reference from the document in the page: each operation and schema has its own address. It sends nothing.

import { type Child, fill, find, make } from './elements.js'
import { parseExact, printExact, printLine } from './exact-json.js'
import { fromMarkdown, inline } from './markdown.js'
import { sampleOf } from './samples.js'
import { curl, type Sent, snippetsOf } from './snippets.js'
import { makeCode } from './texts.js'
import { tabs, token } from './token.js'

type Named<Value> = Readonly<Record<string, Value>>

interface Api {
  readonly openapi: string
  readonly info: Part & { readonly title: string; readonly version: string }
  readonly tags: readonly Part[]
  readonly security: Operation['security']
  readonly paths: Named<Named<Operation>>
  readonly webhooks: Named<Named<Operation>>
  readonly components: Named<Named<Part>>
}

interface Operation extends Part {
  readonly method: string
  /** Empty for a webhook. */
  readonly path: string
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  /** The scopes that a token needs, by security scheme. */
  readonly security?: readonly Named<readonly string[]>[]
  readonly parameters?: readonly Part[]
  readonly requestBody?: Part
  readonly responses: Named<Part>
}

/** A parameter, a header field, a body, a response, an example or a schema, or a reference to one. */
interface Part {
  readonly $ref?: string
  readonly name?: string
  readonly title?: string
  readonly summary?: string
  readonly description?: string | undefined
  readonly required?: boolean | readonly unknown[]
  readonly schema?: Part
  readonly value?: unknown
  /** Of a schema, a list of values. */
  readonly examples?: Named<Part>
  readonly headers?: Named<Part>
  /** By media type. */
  readonly content?: Named<Part>
  readonly properties?: Named<Part>
  readonly items?: Part
  readonly additionalProperties?: Part | boolean
  readonly allOf?: readonly Part[]
  readonly oneOf?: readonly Part[]
  readonly anyOf?: readonly Part[]
  readonly [keyword: string]: unknown
}

/** The base URL of the document's paths, behind any proxy prefix, without a trailing slash. */
const server = new URL('.', location.href).href.replace(/\/$/, '')

/** The beginning of a text, and each part below a heading `## `; a fence has no headings. */
const parts = /(?:^## )?(?:^```[\s\S]*?^```|(?!^## )[\s\S])+/gm

/** Keywords that are shown by other means. */
const structural =
  /^(?:type|format|title|description|(p|additionalP)roperties|required|items|oneOf|anyOf|x-wellFormed)$/
const words: Named<string> = { enum: 'one of', const: 'always', example: 'such as', examples: 'such as' }

const main = find('main')
const contents = find('#contents')
const api = parseExact(find('#document').textContent) as Api

// "Back" may lead to the plants, after another tab has signed out.
tabs.addEventListener('message', ({ data }) => data === 'forget' && token.forget())

const { info, tags, paths, webhooks, components } = api
const [about, ...guide] = `\n${info.description ?? ''}`.match(parts) ?? []
const items = [...Object.entries(paths), ...Object.values(webhooks).map((item) => ['', item] as const)]
const operations = items.flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
)
// The plants come first; how the service is run comes last.
const ofTag = (name = ''): Operation[] => operations.filter(({ tags: [tag], path }) => tag === name && path !== '')
const [plants, ...others] = tags.map(({ name = '', description }) =>
  section(name, titleOf(name), [fromMarkdown(description), ofTag(name).map(operationArticle)]),
)
const links = ofTag(tags[0]?.name).map((each) =>
  make('a.button.item', { href: `#${each.operationId}` }, lineOf(each, each.summary)),
)
const [json, yaml] = ['openapi.json', 'openapi.yaml'].map((href) => make('a', { href }, href))
const schemes = Object.values(components['securitySchemes'] ?? {})
document.title = `${info.title}: reference`
find('#version').textContent = `Version ${info.version}, OpenAPI ${api.openapi}`
main.replaceChildren(
  make('div.intro', make('h1', info.title), fromMarkdown(about), make('div', links), quickStart(operations)),
  section('start', 'Get started', [
    article('server', 'Base URL', make('p', make('code', server), ', described by ', json, ' and ', yaml, '.')),
    article('authentication', 'Authentication', schemes.map(authentication)),
  ]),
  plants ?? '',
  section('webhooks', 'Webhooks', operations.filter(({ path }) => path === '').map(operationArticle)),
  guide.length > 0 ? section('guide', 'Guide', guide.map(guideArticle)) : '',
  section('schemas', 'Schemas', Object.entries(components['schemas'] ?? {}).map(schemaArticle)),
  ...others,
)
contents.append(...[...main.querySelectorAll('section')].flatMap(contentsOf))
// A menu in a narrow window.
contents.addEventListener('click', () => contents.hidePopover())
addEventListener('scroll', markCurrent)
markCurrent()

/** Marks what is read in the contents, and keeps it in sight. */
function markCurrent(): void {
  const parts = [...main.querySelectorAll('article')]
  const current = parts.findLast((part) => part.getBoundingClientRect().top < innerHeight / 3)
  for (const link of contents.querySelectorAll('a')) {
    const isCurrent = link.hash === `#${current?.id}`
    if (isCurrent && link.ariaCurrent === null) link.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    link.ariaCurrent = isCurrent ? 'location' : null
  }
}

/** The title of a section, and links to its articles. */
function contentsOf(part: Element): HTMLElement[] {
  const items = [...part.querySelectorAll('article')].map((each) => {
    const title = make('span', find('h3', HTMLElement, each).textContent)
    const method = each.querySelector('.method')?.cloneNode(true)
    return make('li', make('a.button.item', { href: `#${each.id}` }, title, method))
  })
  return [make('h2', find('h2', HTMLElement, part).textContent), make('ul', items)]
}

function section(id: string, title: string, content: Child): HTMLElement {
  return make('section', { 'aria-labelledby': id }, make('h2', { id }, title), content)
}

/** A part of a section with an address. */
function article(id: string, title: string, ...content: readonly Child[]): HTMLElement {
  const heading = make('h3', { id: `${id}-title` }, make('a', { href: `#${id}` }, title))
  return make('article', { id, 'aria-labelledby': `${id}-title` }, heading, content)
}

/** What names an operation, and what else is said in its line. */
function lineOf({ method, path }: Operation, hint: string): Child {
  const name = make('code', path || 'your URL')
  return [make(`span.method.${method}`, method.toUpperCase()), name, make('span.hint.cut', hint)]
}

/** Commands that work as often as they are sent: the id is the time. */
function quickStart(operations: readonly Operation[]): Child {
  const sent = ['createPlant', 'listPlants'].flatMap((id) =>
    operations.filter(({ operationId }) => operationId === id).map(requestOf),
  )
  const commands = sent.map((each) => curl(each).replace(/"id": -?\d+/, `"id": '$(date +%s)'`))
  return make('div.samples', makeCode('Quick start', { curl: ['export TOKEN=plt_...', ...commands].join('\n') }))
}

function authentication({ scheme, description }: Part): Child {
  const header = `Authorization: ${titleOf(String(scheme))} TOKEN`
  return [make('p', 'Send ', make('code', header), '.'), fromMarkdown(description)]
}

/** The number keeps apart headings that are alike. */
function guideArticle(text: string, at: number): HTMLElement {
  const [heading = '', title = ''] = /^## (.*)/.exec(text) ?? []
  const slug = title.toLowerCase().replaceAll(/\W+/g, '-')
  return article(`guide-${at + 1}-${slug}`, title, fromMarkdown(text.slice(heading.length)))
}

function operationArticle(operation: Operation): HTMLElement {
  const { operationId, summary, description, path, parameters = [], requestBody = {} } = operation
  const body = whole(requestBody)
  const scopes = scopesOf(operation)
  const token = make('a', { href: '#authentication' }, 'token')
  const [[status = '', first = {}] = []] = Object.entries(operation.responses)
  const byPlace = Object.groupBy(parameters.map(whole), (each) => titleOf(String(each['in'])))
  return article(
    operationId,
    summary,
    make('p.row.wrap', lineOf(operation, operationId)),
    fromMarkdown(description),
    scopes.length > 0 && make('p.hint', 'Needs a ', token, ' with ', make('code', scopes.join(' ')), '.'),
    make(
      'div.samples',
      path !== '' && snippetsOf(requestOf(operation), `request: ${summary}`),
      examplesOf('Body', body.content),
      examplesOf(`Response ${status}`, whole(first).content),
    ),
    Object.entries(byPlace).map(([place, all = []]) => [make('h4', `${place} parameters`), fieldsOf(all)]),
    body.content && [
      make('h4', 'Body'),
      fromMarkdown(body.description),
      contentOf(body.content, (schema) => detailsOf(schema, true)),
    ],
    make('h4', 'Responses'),
    responsesOf(operation.responses),
  )
}

function scopesOf({ security = api.security }: Operation): readonly string[] {
  return Object.values(security?.[0] ?? {}).flat()
}

/** Success, then the errors of this operation, then those that most operations have. */
function responsesOf(responses: Named<Part>): Child {
  const operations = Object.values(api.paths).flatMap((item) => Object.values(item))
  const isCommon = ([status, { $ref }]: readonly [string, Part]): boolean =>
    $ref !== undefined && operations.filter((each) => status in each.responses).length * 2 >= operations.length
  const all = Object.entries(responses)
  const common = all.filter((each) => each[0] >= '4' && isCommon(each))
  const statuses = make('span.hint', common.map(([status]) => status).join(', '))
  const label = make('summary', make('strong', `${common.length} common errors`), ' ', make('span', statuses))
  return [
    all.filter((each) => !common.includes(each)).map(response),
    common.length > 0 && make('details.response', label, common.map(response)),
  ]
}

function response([status, part]: readonly [string, Part]): HTMLElement {
  const { description = '', content = {}, headers = {} } = whole(part)
  const [first] = Object.values(content['application/json']?.examples ?? {})
  const { message } = (first?.value ?? {}) as { readonly message?: string }
  const fields = Object.entries(headers).map(([name, each]) => ({ ...whole(each), name }))
  const meaning = make('span', inline(description), ' ', make('span.hint', message))
  return make(
    'details.response',
    make('summary', make(`strong.status-${status.charAt(0)}`, status), ' ', meaning),
    contentOf(content, message === undefined && detailsOf),
    message !== undefined && examplesOf('Example', content),
    fields.length > 0 && [make('h4', 'Header fields'), fieldsOf(fields)],
  )
}

/** Parameters or header fields. */
function fieldsOf(parts: readonly Part[]): Child {
  const fields = parts.map(({ name = '', schema, description, example, examples = {} }) => {
    const all = [example, ...Object.values(examples).map(({ value }) => value)].filter((value) => value !== undefined)
    return [name, { ...schema, description, ...(all.length > 0 && { example: all }) }] as const
  })
  const required = parts.flatMap((part) => (part.required === true ? [part.name] : []))
  return detailsOf({ properties: Object.fromEntries(fields), required }, true)
}

function contentOf(content: Named<Part>, show: false | ((schema: Part) => Child)): Child {
  return Object.entries(content).map(([type, { schema }]) => [
    make('p.hint', make('code', type), schema && [' ', typeOf(schema)]),
    show && schema && show(schema),
  ])
}

/** The examples of each media type; of JSON without one, a sample. */
function examplesOf(label: string, content: Named<Part> = {}): Child {
  return Object.entries(content).map(([type, { schema, examples }]) => {
    const sample = type === 'application/json' && schema ? { [label]: { value: exampleOf(schema) } } : {}
    const codes = Object.entries<Part>(examples ?? sample).map(
      ([name, { summary = name, value }]) => [summary, printExact(value, '', 24)] as const,
    )
    return codes.length > 0 && makeCode(label, Object.fromEntries(codes))
  })
}

/** A value that fits a schema; of a list, with one item. */
function exampleOf(schema: Part): unknown {
  const { items } = whole(schema)
  // A schema may require itself.
  let left = 100
  const read = (each: Part): Part => {
    left -= 1
    const [first] = variantsOf(whole(each))
    return left < 0 ? {} : whole(first === undefined ? each : { allOf: [each, first] })
  }
  return items === undefined ? sampleOf(schema, read) : [sampleOf(items, read)]
}

function schemaArticle([name, schema]: readonly [string, Part]): HTMLElement {
  const code = makeCode(`Example of ${name}`, { [name]: printExact(exampleOf(schema), '', 24) })
  return article(`schema-${name}`, name, make('div.samples', code), detailsOf(schema, true))
}

/** A part with what it refers to and what it combines. */
function whole(part: Part): Part {
  const { $ref, allOf = [], ...own } = part
  const [, , kind = '', name = ''] = $ref?.split('/') ?? []
  const referred = api.components[kind]?.[name]
  const parts = [...(referred ? [referred] : []), ...allOf].map(whole)
  // What a schema adds, such as the id, comes first.
  const ordered = [own, ...parts.toReversed()]
  const properties = ordered.flatMap((each) => Object.entries(each.properties ?? {}))
  const required = ordered.flatMap((each) => each.required ?? [])
  const all: Part = Object.assign({}, ...parts, own)
  if (properties.length === 0) return all
  return { type: 'object', ...all, properties: Object.fromEntries(properties), required: [...new Set(required)] }
}

function variantsOf({ oneOf = [], anyOf = [] }: Part): readonly Part[] {
  return [...oneOf, ...anyOf]
}

/** What is said of a value and what is in it. Its properties are folded, unless `isOpen`. */
function detailsOf(schema: Part, isOpen = false): Child {
  const { description, properties = {}, required = [], items, additionalProperties: others, ...rest } = whole(schema)
  const isRequired = ([name]: readonly [string, Part]): boolean => [required].flat().includes(name)
  const all = Object.entries(properties)
  const list = (): Child => {
    const sorted = [...all.filter(isRequired), ...all.filter((each) => !isRequired(each))]
    const fields = sorted.map((each) => field(...each, isRequired(each)))
    return make('dl', fields)
  }
  return [
    fromMarkdown(description),
    make('p.hint', factsOf(rest)),
    all.length > 0 && (isOpen ? list() : folded(`${all.length} ${all.length === 1 ? 'property' : 'properties'}`, list)),
    items && inside('Each item', items),
    typeof others === 'object' ? inside('Each other property', others) : others === false && 'No other properties.',
    variantsOf(rest).map((each) => inside(each.title ?? typeOf(each), each)),
  ]
}

/** What is in a value; folded if it has a structure. */
function inside(label: Child, schema: Part): Child {
  const { items, ...rest } = whole(schema)
  const deep = rest.properties ?? rest.description ?? variantsOf(rest)[0] ?? items?.$ref
  if (deep !== undefined) return folded(label, () => detailsOf(schema, true))
  const facts = factsOf(rest)
  return [facts.length > 0 && make('p.hint', label, ': ', facts), items && inside(label, items)]
}

/** Made only when it is opened: a schema may contain itself. */
function folded(label: Child, content: () => Child): HTMLElement {
  const details = make('details.inside', make('summary', label))
  details.addEventListener('toggle', () => fill(details, content()), { once: true })
  return details
}

function field(name: string, schema: Part, isRequired: boolean): HTMLElement[] {
  const note = isRequired && make('strong.required', 'required')
  return [make('dt', make('code', name), make('span.hint', typeOf(schema)), note), make('dd', detailsOf(schema))]
}

/** The keywords of a schema that are not shown by other means, in words. */
function factsOf(schema: Part): Child[] {
  const { pattern, 'x-meaning': meaning } = schema
  const all = { ...schema, pattern: meaning === undefined ? pattern : undefined, 'x-meaning': undefined }
  const facts = Object.entries(all).filter(([name, value]) => value !== undefined && !structural.test(name))
  const inWords = facts.map(([keyword, value]): Child => {
    const name = keyword.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return [
      words[keyword] ?? name,
      ' ',
      joined([value].flat().map((each) => make('code', typeof each === 'string' ? each : printLine(each)))),
    ]
  })
  return joined([...inWords, meaning !== undefined && String(meaning)].filter(Boolean), ' \u00b7 ')
}

function typeOf(schema: Part): Child {
  const { type, format, items, enum: choices, ...rest } = whole(schema)
  const [, name] = /([^/]+)$/.exec(schema.$ref ?? '') ?? []
  if (name !== undefined) return make('a', { href: `#schema-${name}` }, name)
  if (type === 'array' && items !== undefined) return ['array of ', typeOf(items)]
  const variants = variantsOf(rest).map((each) => each.title ?? typeOf(each))
  if (type === undefined && variants.length > 0) return joined(variants, ' or ')
  const kind = [type ?? (choices ? 'enum' : 'any value')].flat().join(' or ')
  return format === undefined ? kind : `${kind} (${format})`
}

/** A request of an operation, with an example of the document or a sample. */
function requestOf(operation: Operation): Sent {
  const { method, path, requestBody, parameters = [] } = operation
  const target = parameters
    .map(whole)
    .filter((parameter) => parameter['in'] === 'path')
    .reduce((at, { name, example }) => at.replace(`{${name}}`, printLine(example ?? 1).replace(/"/g, '')), path)
  const { schema, examples = {} } = requestBody?.content?.['application/json'] ?? {}
  const [example = schema && { value: exampleOf(schema) }] = Object.values(examples)
  return {
    method: method.toUpperCase(),
    url: new URL(server + target),
    hasToken: scopesOf(operation).length > 0,
    fields: requestBody ? [['content-type', 'application/json']] : [],
    body: example && printLine(example.value),
  }
}

function joined(parts: readonly Child[], by = ', '): Child[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [by, part]))
}

function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
