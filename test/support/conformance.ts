// Holds responses to the document that the server itself serves: status, header fields and body.

import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export interface HttpResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface ServedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly security: readonly Record<string, readonly string[]>[]
  readonly requestBody: object | undefined
}

interface Described {
  readonly headers?: Record<string, { readonly required?: boolean; readonly schema: object }>
  readonly content?: Record<string, { readonly schema: object }>
}

/** Fields of HTTP itself that a document does not describe. */
const ordinaryFields = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
]

/** Fields that errors have anywhere. */
const fieldsOfAnyError = ['x-request-id', 'allow', 'retry-after', 'ratelimit', 'ratelimit-policy']

export class Conformance {
  readonly operations: readonly ServedOperation[]
  readonly #document: Record<string, unknown>
  readonly #validators = new Map<object, ValidateFunction>()
  readonly #ajv = new Ajv2020({
    strict: false,
    ownProperties: true,
    logger: false,
    formats: { int32: true, int64: true },
  })

  static async fetch(serverUrl: string): Promise<Conformance> {
    const response = await fetch(`${serverUrl}/openapi.json`)
    return new Conformance((await response.json()) as Record<string, unknown>)
  }

  constructor(document: Record<string, unknown>) {
    this.#document = document
    this.operations = Object.entries(document['paths'] as Record<string, Record<string, ServedOperation>>).flatMap(
      ([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({
          operationId: operation.operationId,
          security: operation.security ?? document['security'],
          requestBody: operation.requestBody,
          method: method.toUpperCase(),
          path,
        })),
    )
  }

  /** Fails with an AssertionError when a response is not one that the document describes. */
  check(method: string, target: string, response: HttpResponse): void {
    const described = this.#describedResponses(method, target)
    const where = `${method} ${target} ${response.status}`
    assert.match(response.headers.get('x-request-id') ?? '', /^[0-9A-Za-z-]+$/, `${where}: X-Request-Id`)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff', `${where}: X-Content-Type-Options`)
    if (described === undefined) {
      this.#checkUndescribed(where, response)
      return
    }
    const expected = this.#resolve(described[String(response.status)])
    assert.ok(expected, `${where} is not described; it says ${response.body}`)
    this.#checkHeaders(where, expected, response)
    this.#checkBody(where, method, expected, response)
  }

  /** The responses of an operation, or undefined when the document has no such path or method. */
  #describedResponses(method: string, target: string): Record<string, Described> | undefined {
    const path = target.replace(/^https?:\/\/[^/]*/, '').split('?', 1)[0]
    const operation = this.operations.find(
      (candidate) =>
        (candidate.method === method || (method === 'HEAD' && candidate.method === 'GET')) &&
        new RegExp(`^${candidate.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path ?? ''),
    )
    if (operation === undefined) return undefined
    const paths = this.#document['paths'] as Record<string, Record<string, { responses: Record<string, Described> }>>
    return paths[operation.path]?.[operation.method.toLowerCase()]?.responses
  }

  /** What is outside the document is an Error, a page for a person, or the empty answer to OPTIONS. */
  #checkUndescribed(where: string, response: HttpResponse): void {
    if (response.status === 204) {
      assert.equal(response.body, '', where)
      return
    }
    assert.ok(response.status >= 400, `${where} is not described`)
    if (response.status === 404 && response.headers.get('content-type') === 'text/html') return
    const unexpected = [...response.headers.keys()].filter(
      (name) => ![...ordinaryFields, ...fieldsOfAnyError].includes(name),
    )
    assert.deepEqual(unexpected, [], `${where}: header fields`)
    assert.equal(response.headers.get('content-type'), 'application/json', where)
    const { schemas } = this.#document['components'] as { schemas: Record<string, object> }
    if (response.body !== '') this.#checkSchema(`${where}: body`, schemas['Error'] ?? {}, JSON.parse(response.body))
  }

  #checkHeaders(where: string, expected: Described, { headers }: HttpResponse): void {
    const described = Object.entries(expected.headers ?? {}).map(
      ([name, header]) => [name.toLowerCase(), this.#resolve(header)] as const,
    )
    for (const [name, header] of described) {
      const value = headers.get(name)
      if (value !== undefined) this.#checkSchema(`${where}: ${name}`, header?.schema ?? {}, value)
      else assert.ok(!header?.required, `${where}: ${name} is missing`)
    }
    const known = [...ordinaryFields, ...described.map(([name]) => name)]
    const unexpected = [...headers.keys()].filter((name) => !known.includes(name))
    assert.deepEqual(unexpected, [], `${where}: header fields that the document does not describe`)
  }

  #checkBody(where: string, method: string, expected: Described, { headers, body }: HttpResponse): void {
    if (expected.content === undefined) {
      assert.equal(body, '', where)
      assert.equal(headers.get('content-type'), undefined, where)
      return
    }
    const type = headers.get('content-type') ?? ''
    const media = expected.content?.[type]
    assert.ok(media, `${where}: the content type ${type} is not described`)
    assert.equal(headers.get('transfer-encoding'), undefined, where)
    if (method === 'HEAD') {
      assert.equal(body, '', where)
      return
    }
    assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)), `${where}: Content-Length`)
    this.#checkSchema(`${where}: body`, media.schema, type === 'application/json' ? JSON.parse(body) : body)
  }

  #checkSchema(where: string, schema: object, value: unknown): void {
    const known = this.#validators.get(schema)
    const validate = known ?? this.#ajv.compile({ ...schema, components: this.#document['components'] })
    if (known === undefined) this.#validators.set(schema, validate)
    assert.ok(validate(value), `${where}: ${this.#ajv.errorsText(validate.errors)}: ${JSON.stringify(value)}`)
  }

  #resolve<T extends object>(value: T | undefined): T | undefined {
    if (value === undefined || !('$ref' in value)) return value
    const path = String(value.$ref).replace(/^#\//, '').split('/')
    return path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], this.#document) as T
  }
}
