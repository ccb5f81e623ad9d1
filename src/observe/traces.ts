// Traces for OpenTelemetry: a span for each request, sent by OTLP over HTTP. Its packages are loaded only where they are
// wanted; they are peers that need not be installed.

import { ROOT_CONTEXT, type Span, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { RequestFinished } from '../domain/events.ts'

export interface Traces {
  /** Makes the span of a request, and gives the event with it as its `traceparent`. */
  trace(event: RequestFinished): RequestFinished
  /** Sends what waits to be sent. */
  close(): Promise<void>
}

/** @param environment where OpenTelemetry's own variables, as OTEL_EXPORTER_OTLP_ENDPOINT, are. */
export function createTraces(version: string, environment: Readonly<Record<string, string | undefined>>): Traces {
  const own = resourceFromAttributes({ 'service.name': 'plantstore', 'service.version': version })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(environment['OTEL_TRACES_SAMPLER'], Number(environment['OTEL_TRACES_SAMPLER_ARG'] ?? 1)),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('plantstore', version)
  return {
    trace: (event) => {
      const endMs = Date.now()
      const parent = parentOf(event.traceparent)
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
      const span = tracer.startSpan(
        event.operation ?? event.method,
        { kind: SpanKind.SERVER, startTime: endMs - event.durationMs, attributes: attributesOf(event) },
        context,
      )
      if (event.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(endMs)
      return { ...event, traceparent: traceparentOf(span) }
    },
    close: () => provider.shutdown(),
  }
}

/** By the names of OpenTelemetry's semantic conventions where it has one. */
function attributesOf(event: RequestFinished): Record<string, string | number> {
  const { method, path, status, clientAddress, error, bytes, requestId, plantId, tokenId } = event
  const some = {
    'client.address': clientAddress,
    'error.type': error,
    'enduser.id': tokenId,
    'plantstore.plant_id': plantId,
  }
  const present = Object.entries(some).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    'http.request.method': method,
    'url.path': path,
    'http.response.status_code': status,
    'http.response.body.size': bytes,
    'plantstore.request_id': requestId,
    ...Object.fromEntries(present),
  }
}

function parentOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparent?.split('-') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The values of OTEL_TRACES_SAMPLER; any other is the one that OpenTelemetry has without it. */
function samplerOf(name: string | undefined, ratio: number): Sampler {
  const parentBased = (root: Sampler): Sampler => new ParentBasedSampler({ root })
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_off':
      return parentBased(new AlwaysOffSampler())
    case 'parentbased_traceidratio':
      return parentBased(new TraceIdRatioBasedSampler(ratio))
    default:
      return parentBased(new AlwaysOnSampler())
  }
}
