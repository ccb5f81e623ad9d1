// Checks responses against the served document as `plantstore verify` does, and allows no further header field.

import assert from 'node:assert/strict'
import { isError } from '../../verify/checks.ts'
import { deviations, isOperation } from '../../verify/conformance.ts'
import { indexDocument, type Operation } from '../../verify/document.ts'
import { decodeJson } from '../../verify/json.ts'
import type { Answer } from '../../verify/message.ts'
import { Plants } from '../../verify/plant.ts'
import type { Schema } from '../../verify/schemas.ts'

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

/** By the document, without the address of its server. */
const made = new Map<string, Conformance>()

export class Conformance {
  readonly operations: readonly Operation[]
  readonly #plants: Plants

  /** Documents that differ only in the address of their server are read, and their schemas compiled, once. */
  static async fetch(serverUrl: string): Promise<Conformance> {
    const text = await (await fetch(`${serverUrl}/openapi.json`)).text()
    const key = text.replaceAll(serverUrl, '')
    const conformance = made.get(key) ?? new Conformance(decodeJson(Buffer.from(text)) as Schema)
    made.set(key, conformance)
    return conformance
  }

  private constructor(root: Schema) {
    const document = indexDocument(root, true)
    this.operations = document.operations
    this.#plants = new Plants(document, document)
  }

  /** Fails with an AssertionError when a response is not one that the document describes. */
  check(method: string, target: string, response: HttpResponse): void {
    const { status, headers, body } = response
    const where = `${method} ${target} ${status}`
    assert.match(headers.get('x-request-id') ?? '', /^[0-9A-Za-z-]+$/, `${where}: X-Request-Id`)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', `${where}: X-Content-Type-Options`)
    const answer = toAnswer(response)
    const path = target.replace(/^https?:\/\/[^/]*/, '')
    const operation = this.operations.find((each) => isOperation(each, method, path))
    const described = operation?.responses.get(status)
    if (operation === undefined) {
      // An Error, a page for a person, or the empty answer to OPTIONS.
      assert.ok(status >= 400 || (status === 204 && body === ''), `${where} is not described`)
      if (status === 204 || (status === 404 && headers.get('content-type') === 'text/html')) return
      assert.equal(headers.get('content-type'), 'application/json', where)
      if (body !== '') assert.equal(isError(answer, this.#plants), undefined, where)
    } else {
      const wrong = deviations(this.#plants, operation, { answer, method, request: { target } })
      assert.deepEqual(wrong, [], `${where}: ${body}`)
      assert.equal(headers.get('transfer-encoding'), undefined, where)
      if (described?.content.size === 0) assert.equal(headers.get('content-type'), undefined, where)
      else if (method !== 'HEAD') assert.equal(headers.get('content-length'), String(answer.body.length), where)
    }
    const known = described?.headers.map(({ name }) => name.toLowerCase()) ?? fieldsOfAnyError
    const unexpected = [...headers.keys()].filter((name) => ![...ordinaryFields, ...known].includes(name))
    assert.deepEqual(unexpected, [], `${where}: header fields that the document does not describe`)
  }
}

/** A response as `plantstore verify` has it. */
export function toAnswer({ status, headers, body }: HttpResponse): Answer {
  return { status, fields: [...headers], body: Buffer.from(body) }
}
