// The application: every operation of the contract on its path, each request one straight line from socket to answer.

import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Contract, Operation, OperationId } from '../contract/document.ts'
import { compileSerialisers } from '../contract/serialise.ts'
import { AppError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import type { Token } from '../domain/token.ts'
import type { Authenticate } from './authenticate.ts'
import { checkFraming, hasBody } from './framing.ts'
import { checkBodyHeaders, compileInput } from './input.ts'
import type { Answer, Call, Handlers } from './operations.ts'
import { type ProblemLimits, Problems, toAppError } from './problems.ts'
import { createHttpServer, type ServerLimits } from './server.ts'

export interface AppLimits extends ServerLimits, ProblemLimits {
  readonly headerFieldsMax: number
  readonly jsonDepthMax: number
}

export interface AppParts {
  readonly contract: Contract
  readonly handlers: Handlers
  readonly authenticate: Authenticate
  readonly limits: AppLimits
  readonly observe: Observe
  readonly newRequestId: () => string
  /** True once the server is to end: each connection is then closed after its next answer. */
  readonly isStopping: () => boolean
}

/** What is known of a request so far. */
interface Exchange {
  operation?: Operation
  caller?: Token
  failure?: AppError
}

const exchangeKey = 'exchange'
const pathCharactersShown = 200

/**
 * Makes the application. Its `server` listens once the app is ready and somebody calls `server.listen`.
 *
 * @throws Error when operations and handlers do not match one to one.
 */
export function createApp(parts: AppParts): FastifyInstance {
  const { contract, handlers, limits } = parts
  assertOneToOne(contract.operations, handlers)
  const problems = new Problems(contract.errorSchema, limits)

  const app = Fastify({
    serverFactory: (listener) => createHttpServer({ ...parts, problems }, listener),
    // createHttpServer answers these errors itself.
    clientErrorHandler: () => {},
    genReqId: parts.newRequestId,
    requestIdHeader: false,
    return503OnClosing: false,
    bodyLimit: limits.bodyBytesMax,
    rewriteUrl: toOriginForm,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id)
      refuse(error, request, reply, {})
    },
  })
  app.decorateRequest(exchangeKey, null)
  // A body is only collected here; it is decoded once the caller is known, by `readBody`.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.addHook('onRequest', (request, reply, done) => {
    request.setDecorator(exchangeKey, {})
    reply.header('x-request-id', request.id)
    checkFraming(request.raw, limits.headerFieldsMax)
    if (!request.is404) done()
    else if (request.method === 'OPTIONS' && request.url === '*') reply.code(204).header('allow', allMethods).send()
    else throw noRoute(request)
  })
  app.addHook('onResponse', (request, reply, done) => {
    observeFinished(request, reply)
    done()
  })
  app.setNotFoundHandler((request) => {
    throw noRoute(request)
  })
  app.setErrorHandler((error, request, reply) => {
    refuse(error, request, reply, request.getDecorator<Exchange>(exchangeKey))
  })

  const allMethods = app.supportedMethods.join(', ')
  for (const operation of contract.operations) addOperation(operation)
  for (const path of new Set(contract.operations.map((operation) => operation.path))) addOtherMethods(path)
  return app

  function addOperation(operation: Operation): void {
    const { scopes } = operation
    // The types of Handlers pair each operation with its own call; here they are one list.
    const handle = handlers[operation.id] as unknown as (
      call: Call<OperationId>,
    ) => Answer<OperationId> | Promise<Answer<OperationId>>
    const serialise = compileSerialisers(operation).get(200) ?? asItIs
    const mediaType = operation.responses.get(200)?.content.keys().next().value ?? 'application/json'
    const readInput = compileInput(operation, limits.jsonDepthMax)

    app.route({
      method: operation.method,
      url: toRoutePath(operation.path),
      onRequest: (request, reply, done) => {
        const exchange = request.getDecorator<Exchange>(exchangeKey)
        exchange.operation = operation
        const enter = (caller?: Token): void => {
          if (caller !== undefined) exchange.caller = caller
          if (operation.body !== undefined) {
            checkBodyHeaders(request.raw, limits.bodyBytesMax)
            if (request.headers.expect !== undefined && hasBody(request.raw)) reply.raw.writeContinue()
          }
          done()
        }
        if (scopes === undefined) return enter()
        const caller = parts.authenticate(request.headers.authorization, scopes)
        if (caller instanceof Promise) caller.then(enter).catch(done)
        else enter(caller)
      },
      handler: async (request, reply) => {
        const { caller } = request.getDecorator<Exchange>(exchangeKey)
        const answer = await handle({ ...readInput(request), caller })
        closeWhenStopping(reply)
        reply.code(answer.status).header('content-type', mediaType)
        if (answer.headers !== undefined) reply.headers(answer.headers)
        reply.serializer(typeof answer.body === 'string' ? asItIs : serialise)
        return answer.body
      },
    })
  }

  /** The methods that the contract does not have at a path: OPTIONS says which it has, the others are refused. */
  function addOtherMethods(path: string): void {
    const described = contract.operations.filter((operation) => operation.path === path).map(({ method }) => method)
    const served = [...described, ...(described.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort()
    const allow = served.join(', ')
    const url = toRoutePath(path)
    const unreachable = (): never => {
      throw new TypeError('the request was answered before its handler')
    }
    app.route({
      method: 'OPTIONS',
      url,
      onRequest: (_request, reply) => {
        reply.code(204).header('allow', allow).send()
      },
      handler: unreachable,
    })
    app.route({
      method: app.supportedMethods.filter((method) => !served.includes(method)),
      url,
      onRequest: (request, reply, _done) => {
        reply.header('allow', allow)
        throw new AppError('methodNotAllowed', `${request.method} is not served at ${path}, only ${allow}`)
      },
      handler: unreachable,
    })
  }

  function noRoute(request: FastifyRequest): AppError {
    if (!app.supportedMethods.includes(request.method)) {
      return new AppError('unknownMethod', `the method ${request.method} is not known`)
    }
    return new AppError('unknownPath', `there is nothing at ${shownPath(request)}`)
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, exchange: Exchange): void {
    const failure = toAppError(error, request.id, limits.bodyBytesMax)
    exchange.failure = failure
    const problem = problems.of(failure, exchange.operation?.scopes)
    if (problems.mustClose(request.raw, failure)) {
      const headers = { ...problem.headers, 'x-request-id': request.id, ...pick(reply.getHeaders(), 'allow') }
      reply.hijack()
      problems.answerAndClose(reply.raw, { ...problem, headers })
    } else {
      closeWhenStopping(reply)
      reply.code(problem.status).headers(problem.headers).serializer(asItIs).send(problem.body)
    }
  }

  function closeWhenStopping(reply: FastifyReply): void {
    if (parts.isStopping()) reply.header('connection', 'close')
  }

  function observeFinished(request: FastifyRequest, reply: FastifyReply): void {
    const exchange = request.getDecorator<Exchange>(exchangeKey)
    parts.observe({
      kind: 'requestFinished',
      requestId: request.id,
      method: request.method,
      ...(exchange.operation !== undefined && { operation: exchange.operation.id }),
      path: shownPath(request),
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      ...(exchange.failure !== undefined && { error: exchange.failure.code, cause: exchange.failure.cause }),
    })
  }
}

function assertOneToOne(operations: readonly Operation[], handlers: Handlers): void {
  const described = operations.map(({ id }) => id)
  const handled = Object.keys(handlers)
  const unhandled = described.filter((id) => !handled.includes(id))
  const undescribed = handled.filter((id) => !described.some((known) => known === id))
  const repeated = described.filter((id, index) => described.indexOf(id) !== index)
  if (unhandled.length + undescribed.length + repeated.length === 0) return
  throw new Error(
    `openapi.yaml and the handlers do not match: without a handler [${unhandled}], without an operation [${undescribed}], described twice [${repeated}]`,
  )
}

/** A request may name its target in full, scheme and host included (RFC 9112, section 3.2.2). */
function toOriginForm({ url = '/' }: IncomingMessage): string {
  return /^https?:\/\//i.test(url) ? url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/') : url
}

/** `/plants/{id}` as the router spells it. */
function toRoutePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function shownPath(request: FastifyRequest): string {
  return (request.url.split('?', 1)[0] ?? '').slice(0, pathCharactersShown)
}

function pick(headers: ReturnType<FastifyReply['getHeaders']>, name: string): Record<string, string> {
  const value = headers[name]
  return value === undefined ? {} : { [name]: String(value) }
}

function asItIs(body: unknown): string {
  return body as string
}
