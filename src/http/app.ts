// The application: routes every operation of the contract, each request in one straight line from socket to answer.

import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Operation } from '../contract/document.ts'
import { AppError } from '../domain/errors.ts'
import type { AppOptions } from './app-options.ts'
import { allowOrigin } from './cors.ts'
import { countRequest } from './counting.ts'
import { Endpoint } from './endpoint.ts'
import { forBrowser } from './for-browser.ts'
import type { Handlers } from './operations.ts'
import { Problems, toAppError } from './problems.ts'
import { addOperation, addOtherMethods } from './routes.ts'
import { createHttpServer } from './server.ts'
import { Shortcut } from './shortcut.ts'
import type { ServePlain } from './wire/connection.ts'
import {
  beginExchange,
  commonFields,
  declareExchange,
  type Exchange,
  exchangeOf,
  finishedEvent,
  shownPath,
} from './wire/exchange.ts'
import { checkFraming } from './wire/framing.ts'

/**
 * Creates the application. Its `server` can listen once the app is ready.
 *
 * @throws Error unless operations and handlers match one to one.
 */
export function createApp(options: AppOptions): FastifyInstance {
  const { operations } = options.contract
  assertOneToOne(operations, options.handlers)
  const problems = new Problems(options.limits)
  const endpoints = operations.map((operation) => new Endpoint(operation, options))
  const shortcut = new Shortcut(endpoints, options, problems)
  const app = createFastify(options, problems, (connection, bytes) => shortcut.serve(connection, bytes))
  declareExchange(app)
  // Only collects the body. The route's handler decodes it after authentication.
  app.removeAllContentTypeParsers()
  // Fastify caches the parser of a named type, but not the lookup through `*`.
  app.addContentTypeParser(['application/json', '*'], { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  addHooks(app, options)
  app.setNotFoundHandler((request) => {
    throw noRoute(app, request)
  })
  app.setErrorHandler((error, request, reply) => {
    if (options.isStopping()) reply.header('connection', 'close')
    refuse(error, exchangeOf(request), request, reply, options, problems)
  })
  for (const endpoint of endpoints) addOperation(app, endpoint, options)
  for (const path of new Set(operations.map(({ path }) => path))) addOtherMethods(app, path, operations, options)
  return app
}

function createFastify(options: AppOptions, problems: Problems, servePlain: ServePlain): FastifyInstance {
  return Fastify({
    serverFactory: (listener) => createHttpServer({ ...options, problems, servePlain }, listener),
    // createHttpServer answers these errors.
    clientErrorHandler: () => {},
    genReqId: options.requestIdOf,
    requestIdHeader: false,
    return503OnClosing: false,
    bodyLimit: options.limits.bodyBytesMax,
    // No route has a Fastify schema. Without these stubs, Fastify would load Ajv and its serialiser.
    schemaController: { compilersFactory: { buildValidator: notCompiled, buildSerializer: notCompiled } },
    rewriteUrl: toOriginForm,
    // The operation parses its query.
    routerOptions: {
      querystringParser: (query) => query as unknown as Record<string, unknown>,
      // The header limit already bounds the path; schemas restrict parameters.
      maxParamLength: options.limits.headerBytesMax,
    },
    // Handles failures before routing, such as a path that cannot be decoded; no hook has run yet.
    frameworkErrors: (error, request, reply) => {
      const exchange: Exchange = {}
      reply.headers(commonFields(request.id))
      allowOrigin(options.allowedOrigins, request, reply)
      reply.raw.once('finish', () => options.observe(finishedEvent(exchange, request, reply, options.peers)))
      refuse(error, exchange, request, reply, options, problems)
    },
  })
}

function notCompiled(): never {
  throw new TypeError('schemas are compiled by `npm run generate`')
}

function addHooks(app: FastifyInstance, options: AppOptions): void {
  const { contract, limits, allowedOrigins, observe, peers, isStopping } = options
  const allMethods = [...new Set(['HEAD', 'OPTIONS', ...contract.operations.map(({ method }) => method)])]
    .sort()
    .join(', ')
  app.addHook('onRequest', (request, reply, done) => {
    beginExchange(request)
    reply.headers(commonFields(request.id))
    if (isStopping()) reply.header('connection', 'close')
    allowOrigin(allowedOrigins, request, reply)
    checkFraming(request.raw, request.originalUrl, limits.headerFieldsMax)
    // The router treats `*` as the root path.
    if (request.originalUrl === '*') {
      if (request.method !== 'OPTIONS') throw noRoute(app, request)
      countRequest(request, exchangeOf(request), options)
      reply.code(204).header('allow', allMethods).send()
    } else if (request.is404) {
      throw noRoute(app, request)
    } else {
      done()
    }
  })
  app.addHook('onResponse', (request, reply, done) => {
    observe(finishedEvent(exchangeOf(request), request, reply, peers))
    done()
  })
}

function noRoute(app: FastifyInstance, request: FastifyRequest): AppError {
  if (!app.supportedMethods.includes(request.method)) {
    return new AppError('unknownMethod', `the method ${request.method} is not known`)
  }
  const path = shownPath(request.url)
  return new AppError('unknownPath', `there is nothing at ${path}${hintFor(path)}`)
}

function hintFor(path: string): string {
  if (path.endsWith('/')) return '; no path ends with a slash'
  return /^\/(swagger|api-?docs|redoc|openapi)/i.test(path) ? '; see /docs, /openapi.json and /openapi.yaml' : ''
}

/** Answers a failed request, at any step. */
function refuse(
  error: unknown,
  exchange: Exchange,
  request: FastifyRequest,
  reply: FastifyReply,
  options: AppOptions,
  problems: Problems,
): void {
  // The server has already answered: a body that broke or timed out does not wait for its route.
  if (reply.raw.headersSent) return
  const failure = toAppError(error, request.id, problems.limits)
  // A failure that breaks the connection closes it even if the caller gets 429 instead.
  const mustClose = problems.mustClose(request.raw, failure)
  exchange.failure = counted(failure, exchange, request, options)
  const problem = forBrowser(problems.of(exchange.failure, exchange.operation?.scopes), exchange.failure, request)
  reply.code(problem.status).headers(problem.headers)
  if (mustClose) {
    reply.hijack()
    problems.answerAndClose(reply.raw, { ...problem, headers: reply.getHeaders() as typeof problem.headers })
  } else {
    reply.serializer((body: string) => body).send(problem.body)
  }
}

/** The error of a failed request; always 429 for a caller over its limit. */
function counted(failure: AppError, exchange: Exchange, request: FastifyRequest, options: AppOptions): AppError {
  try {
    countRequest(request, exchange, options, failure)
    return failure
  } catch (refusal) {
    return toAppError(refusal, request.id, options.limits)
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

/** A target may be in absolute form, with scheme and host (RFC 9112, section 3.2.2). */
function toOriginForm({ url = '/' }: IncomingMessage): string {
  return /^https?:\/\//i.test(url) ? url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/') : url
}
