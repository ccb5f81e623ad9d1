// The pages, the files that they load, and the document that is served.

import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { type AnswerCheck, type Check, field, ok, refusal } from '../checks.ts'
import type { Document, Operation } from '../document.ts'
import { int64Max } from '../ids.ts'
import { decodeJson, type JsonValue, toJson } from '../json.ts'
import { type Answer, fieldOf, jsonOf, objectOf } from '../message.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import { pathOf, steadyTarget } from './operations.ts'

export function pageRows({ plants: { document } }: Circumstances): readonly Row[] {
  const pages = document.operations.filter(({ scopes, responses }) => {
    return scopes === undefined && responses.get(200)?.content.has('text/html')
  })
  return [
    ...pages.map((operation) => {
      const target = pathOf(operation, 0n)
      return row(`the page ${target} loads only from this server`, 'headers/ContentSecurityPolicy', async (store) => {
        const html = { Accept: 'text/html' }
        for (const method of ['GET', 'HEAD']) await store.call(method, target, [...ok, loadsFromHere], html)
      })
    }),
    row('the links of the home page lead to paths', 'getHome: links in JSON', (store) =>
      store.call('GET', '/', [...ok, linksToPaths(document)], { Accept: 'application/json' }),
    ),
    ...document.operations.flatMap(formRows),
    row('the document that is served has every operation', 'getOpenapiYaml', async (store) => {
      const json = await store.call('GET', '/openapi.json', [...ok, isWhole(document)])
      const isSame: AnswerCheck = ({ body }) =>
        isDeepStrictEqual(parseYaml(body.toString()), jsonOf(json)) ? undefined : 'it is not /openapi.json'
      await store.call('GET', '/openapi.yaml', [...ok, isSame, hasComments(document)])
    }),
    row('the document names no host of an earlier request', 'getOpenapiJson', async (store) => {
      // A server may have one public URL for all. If it names the requested host, it does so each time.
      const host = `${store.nonce}.example:81`
      await store.call('GET', '/openapi.json', [], { Host: host })
      const isOther: AnswerCheck = ({ body }) => (body.includes(host) ? `the document names ${host}` : undefined)
      await store.call('GET', '/openapi.json', [...ok, isOther])
    }),
    row('a file of the pages is sent again only when it has changed', 'getSiteFile 304', async (store) => {
      const get = (file: string, checks: readonly Check[], headers = {}): Promise<Answer> =>
        store.call('GET', `/site/${file}`, checks, headers)
      const first = await get('style.css', ok)
      await get('client.js', ok, { 'If-None-Match': fieldOf(first, 'etag') ?? '' })
      await get('none.css', refusal('unknownPath'))
    }),
  ]
}

/** JSON, unless the client accepts the other form of an answer (RFC 9110, section 12.5.1). */
function formRows(operation: Operation): readonly Row[] {
  const types = [...(operation.responses.get(200)?.content.keys() ?? [])]
  if (!types.includes('application/json')) return []
  return types
    .filter((type) => type !== 'application/json')
    .map((type) =>
      row(`${operation.id} is ${type} for clients that accept it, and JSON for others`, operation.id, async (store) => {
        const get = async (Accept: string, wanted: string): Promise<void> => {
          const request = { method: 'GET', target: steadyTarget(operation, 0n), headers: { Accept } }
          const isWanted = field('Content-Type', new RegExp(`^${wanted}`, 'i'))
          await store.send({ ...request, isEnough: () => true }, [...ok, isWanted])
        }
        for (const accept of [type, type.toUpperCase(), `text/plain, ${type};q=0.9`]) await get(accept, type)
        for (const accept of ['application/json', `${type};q=0, */*`]) await get(accept, 'application/json')
      }),
    )
}

/** The directives for which default-src is the default (CSP, section 6.1). */
const fetchDirectives = ['script', 'style', 'img', 'connect', 'font', 'frame', 'media', 'object', 'worker', 'manifest']

/** A policy, if there is one, names no other server, and leaves no kind of resource open. */
export const loadsFromHere: AnswerCheck = (answer) => {
  const policy = fieldOf(answer, 'content-security-policy')
  if (policy === undefined) return undefined
  const directives = policy.split(/[;,]/).map((directive) => directive.trim().split(/\s+/))
  const other = directives.flatMap(([, ...sources]) => sources).find((source) => !/^(?:'.*'|data:|blob:)$/.test(source))
  if (other !== undefined) return `Content-Security-Policy is ${policy}, which allows ${other}`
  const names = directives.map(([name]) => name?.toLowerCase())
  const open = fetchDirectives.find((kind) => !names.includes('default-src') && !names.includes(`${kind}-src`))
  return open && `Content-Security-Policy is ${policy}, without default-src and ${open}-src`
}

/** Each link leads to what has its name. */
function linksToPaths({ operations }: Document): AnswerCheck {
  const paths = operations.filter(({ method }) => method === 'GET').map(({ path }) => path)
  return (answer) => {
    const links = Object.entries((objectOf(answer)['links'] ?? {}) as Record<string, JsonValue>)
    const wrong = links.find(([name, link]) => {
      const wanted = paths.includes(`/${name}`) ? [`/${name}`] : paths.filter((path) => path.length > 1)
      return !wanted.some((path) => String(link).endsWith(path))
    })
    return wrong && `links.${wrong[0]} is ${String(wrong[1])}, which is no path of the document`
  }
}

function parseYaml(text: string): JsonValue | undefined {
  try {
    // A number such as 1e+300 is an integer in JSON, but a double in YAML.
    return decodeJson(Buffer.from(toJson(parse(text, { logLevel: 'error', intAsBigInt: true }))))
  } catch {
    return undefined
  }
}

interface Served {
  readonly info?: { readonly version?: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
}

/** An example of an id, which is the last of its list. */
const int64Example = new RegExp(`[[,]\\s*${int64Max}\\s*\\]`)

/** Every operation is at its path and method, and ids have all their digits. There may be more. */
function isWhole({ operations, isBundled, root }: Document): AnswerCheck {
  return (answer) => {
    const { paths, info } = objectOf(answer) as Served
    const missing = operations.find(({ id, method, path }) => paths?.[path]?.[method.toLowerCase()]?.operationId !== id)
    if (missing !== undefined) return `the operation ${missing.id} is not at ${missing.method} ${missing.path}`
    const { version } = root['info'] as NonNullable<Served['info']>
    if (isBundled && info?.version !== version) return `the version is ${info?.version}, not ${version}`
    const isRounded = isBundled && !int64Example.test(answer.body.toString())
    return isRounded ? `the example ${int64Max} is missing or rounded` : undefined
  }
}

function hasComments({ isBundled }: Document): AnswerCheck {
  return ({ body }) =>
    isBundled && !/^ *# /m.test(body.toString()) ? 'the comments of the document are missing' : undefined
}
