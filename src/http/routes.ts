// Creates the routes of the contract's paths: each operation, and an answer for every other method.

import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Operation, OperationId } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import { AppError } from '../domain/errors.ts'
import type { AppOptions } from './app-options.ts'
import { answerPreflight } from './cors.ts'
import { countRequest } from './counting.ts'
import { type Endpoint, toBody } from './endpoint.ts'
import type { Texts } from './input.ts'
import type { Answer } from './operations.ts'
import { connectionOf } from './wire/connections.ts'
import { exchangeOf, finishedEvent, privateFields } from './wire/exchange.ts'
import { expectsContinue, hasBody, hostAsked } from './wire/framing.ts'
import { noteStream, onceClosed } from './wire/parser-socket.ts'

/** Adds the route of an operation, which runs the steps of its endpoint. */
export function addOperation(app: FastifyInstance, endpoint: Endpoint, options: AppOptions): void {
  const { connections, peers } = options
  const { operation, isOfMany } = endpoint

  app.route({
    // HEAD is answered like GET, without the body (RFC 9110, section 9.3.2).
    method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
    exposeHeadRoute: false,
    url: toRoutePath(operation.path),
    onRequest: (request, reply, done) => {
      const exchange = exchangeOf(request)
      exchange.operation = operation
      if (operation.scopes !== undefined) reply.headers(privateFields)
      const enter = (caller?: Caller): void => {
        if (caller !== undefined) exchange.caller = caller
        const waits = expectsContinue(request.raw)
        if (!hasBody(request.raw)) return
        endpoint.checkBodyHeaders(request.headers)
        if (waits) reply.raw.writeContinue()
      }
      const caller = endpoint.identify(request.headers, request.raw.socket)
      if (caller instanceof Promise) {
        caller.then(enter).then(() => done(), done)
      } else {
        enter(caller)
        done()
      }
    },
    handler: async (request, reply) => {
      const find = () =>
        endpoint.answer({
          texts: request as unknown as Texts,
          caller: exchangeOf(request).caller,
          host: hostAsked(request.raw, request.originalUrl),
          scheme: peers.schemeOf(request.raw.socket, request.headers),
          accept: request.headers.accept,
          acceptEncoding: request.headers['accept-encoding'] as string | undefined,
          assertWanted: () => connections.largeAnswers.assertWanted(request.raw.socket),
          onClosed: (listener) => onceClosed(reply.raw, listener),
          socket: request.raw.socket,
          response: reply.raw,
          exchange: exchangeOf(request),
        })
      const answer = await (isOfMany ? connections.largeAnswers.find(connectionOf(request.raw.socket), find) : find())
      // The server has already answered: the body broke after authentication.
      if (reply.raw.headersSent) return reply.hijack()
      if (isOfMany && answer.body instanceof Uint8Array && !request.raw.socket.destroyed) {
        connections.largeAnswers.add(reply.raw, answer.body.length)
        reply.raw.once('close', () => connections.largeAnswers.forget(reply.raw))
      }
      if ('stream' in answer && request.method !== 'HEAD') {
        reply.raw.once('close', () => {
          const isLeft = connectionOf(request.raw.socket).endReason === 'clientLeft'
          // Fastify reports a response that was ended.
          if (isLeft && !reply.raw.writableFinished) {
            options.observe(finishedEvent(exchangeOf(request), request, reply, peers))
          }
        })
        return stream(reply, answer, () => endpoint.reidentify(request.headers.authorization))
      }
      reply.code(answer.status)
      if (answer.headers !== undefined) reply.headers(answer.headers)
      if (options.isStopping()) reply.header('connection', 'close')
      if (answer.status !== 200) return reply.send()
      reply.header('content-type', answer.type ?? endpoint.mediaType)
      reply.serializer((body: string) => body)
      return toBody(answer.body)
    },
  })
}

/** Sends the head, and hands the rest over. */
function stream(
  reply: FastifyReply,
  { headers, type, stream: write }: Extract<Answer<OperationId>, { readonly stream: unknown }>,
  reidentify: () => Caller | Promise<Caller>,
): FastifyReply {
  reply.headers({ ...headers, 'content-type': type })
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
  raw.flushHeaders()
  noteStream(raw)
  write(raw, reidentify)
  return reply
}

/** Adds the methods that a path lacks in the contract: OPTIONS lists the available ones, the others are refused. */
export function addOtherMethods(
  app: FastifyInstance,
  path: string,
  operations: readonly Operation[],
  options: AppOptions,
): void {
  const described = operations.filter((operation) => operation.path === path).map(({ method }) => method)
  const served = [...described, ...(described.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort()
  const allow = served.join(', ')
  const handler = (): never => {
    throw new TypeError('the request was answered before its handler')
  }
  app.route({
    method: 'OPTIONS',
    url: toRoutePath(path),
    onRequest: (request, reply, _done) => {
      // Preflights are not rate-limited: a browser tells its page nothing about a refused one, not even when to retry.
      if (!answerPreflight(request, reply, allow)) countRequest(request, exchangeOf(request), options)
      reply.code(204).header('allow', allow).send()
    },
    handler,
  })
  app.route({
    method: app.supportedMethods.filter((method) => !served.includes(method)),
    url: toRoutePath(path),
    onRequest: (request, reply, _done) => {
      reply.header('allow', allow)
      throw new AppError('methodNotAllowed', `${request.method} is not served at ${path}, only ${allow}`)
    },
    handler,
  })
}

/** Converts `/plants/{id}` to the router's syntax; a parameter is never empty. */
function toRoutePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1([^/]+)')
}
