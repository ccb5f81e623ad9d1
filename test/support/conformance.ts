// Checks responses against the document that the server itself serves: status, header fields and body. Reads the
// document as `plantstore verify` does, but allows no header field that the document does not describe.

import assert from 'node:assert/strict'
import { indexDocument, type Operation, type ResponseDescription } from '../../verify/document.ts'
import { decodeJson } from '../../verify/json.ts'
import { Judge, type Schema } from '../../verify/schemas.ts'

export interface HttpResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Fields of HTTP itself that a document does not describe. */
const ordinaryFields = [
  ...['access-control-allow-headers', 'access-control-allow-methods', 'access-control-allow-origin'],
  ...['access-control-expose-headers', 'access-control-max-age', 'cache-control', 'connection', 'content-length'],
  ...['content-type', 'date', 'keep-alive', 'transfer-encoding', 'vary', 'x-content-type-options'],
]
/** Fields that errors have anywhere. */
const fieldsOfAnyError = ['x-request-id', 'allow', 'retry-after', 'ratelimit', 'ratelimit-policy']
const error: Schema = { $ref: '#/components/schemas/Error' }

/** By the document, without the address of its server. */
const made = new Map<string, Conformance>()

export class Conformance {
  readonly operations: readonly Operation[]
  readonly #judge: Judge

  /** Documents that differ only in the address of their server are read, and their schemas compiled, once. */
  static async fetch(serverUrl: string): Promise<Conformance> {
    const text = await (await fetch(`${serverUrl}/openapi.json`)).text()
    const key = text.replaceAll(serverUrl, '')
    const conformance = made.get(key) ?? new Conformance(decodeJson(Buffer.from(text)) as Schema)
    made.set(key, conformance)
    return conformance
  }

  private constructor(document: Schema) {
    this.operations = indexDocument(document, true).operations
    this.#judge = new Judge(document)
  }

  /** Fails with an AssertionError when a response is not one that the document describes. */
  check(method: string, target: string, response: HttpResponse): void {
    const { status, headers, body } = response
    const where = `${method} ${target} ${status}`
    assert.match(headers.get('x-request-id') ?? '', /^[0-9A-Za-z-]+$/, `${where}: X-Request-Id`)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', `${where}: X-Content-Type-Options`)
    const operation = this.#find(method, target)
    if (operation === undefined) {
      this.#checkUndescribed(where, response)
      return
    }
    const described = operation.responses.get(status)
    assert.ok(described, `${where} is not described; it says ${body}`)
    for (const { name, isRequired, schema } of described.headers) {
      const value = headers.get(name.toLowerCase())
      if (value !== undefined) this.#checkSchema(`${where}: ${name}`, schema, value)
      else assert.ok(!isRequired, `${where}: ${name} is missing`)
    }
    assertFields(where, response, [...ordinaryFields, ...described.headers.map(({ name }) => name.toLowerCase())])
    this.#checkBody(where, method, described, response)
  }

  /** Undefined when the document has no such path or method. */
  #find(method: string, target: string): Operation | undefined {
    const path = target.replace(/^https?:\/\/[^/]*/, '').split('?', 1)[0] ?? ''
    return this.operations.find(
      (each) =>
        (each.method === method || (method === 'HEAD' && each.method === 'GET')) &&
        new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
  }

  /** What is outside the document is an Error, a page for a person, or the empty answer to OPTIONS. */
  #checkUndescribed(where: string, response: HttpResponse): void {
    const { status, headers, body } = response
    assert.ok(status >= 400 || (status === 204 && body === ''), `${where} is not described`)
    if (status === 204 || (status === 404 && headers.get('content-type') === 'text/html')) return
    assertFields(where, response, [...ordinaryFields, ...fieldsOfAnyError])
    assert.equal(headers.get('content-type'), 'application/json', where)
    if (body !== '') this.#checkSchema(`${where}: body`, error, decodeJson(Buffer.from(body)))
  }

  #checkBody(where: string, method: string, { content }: ResponseDescription, { headers, body }: HttpResponse): void {
    const type = headers.get('content-type')
    if (content.size === 0) {
      assert.deepEqual([body, type], ['', undefined], where)
      return
    }
    const schema = content.get(type ?? '')
    assert.ok(schema, `${where}: the content type ${type} is not described`)
    assert.equal(headers.get('transfer-encoding'), undefined, where)
    if (method === 'HEAD') {
      assert.equal(body, '', where)
      return
    }
    assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)), `${where}: Content-Length`)
    this.#checkSchema(`${where}: body`, schema, type === 'application/json' ? decodeJson(Buffer.from(body)) : body)
  }

  #checkSchema(where: string, schema: Schema, value: ReturnType<typeof decodeJson>): void {
    const why = this.#judge.whyNot(schema, value, 'it')
    assert.ok(why === undefined, `${where}: ${why}`)
  }
}

function assertFields(where: string, { headers }: HttpResponse, known: readonly string[]): void {
  const unexpected = [...headers.keys()].filter((name) => !known.includes(name))
  assert.deepEqual(unexpected, [], `${where}: header fields that the document does not describe`)
}
