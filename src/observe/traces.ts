// OpenTelemetry traces: one span per request, sent by OTLP over HTTP. The packages are optional peer dependencies,
// loaded only when enabled.

import { ROOT_CONTEXT, type Span, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { RequestFinished } from '../domain/events.ts'

export interface Traces {
  /** Creates the span of a request, and returns the event with the span as its `traceparent`. */
  trace(event: RequestFinished): RequestFinished
  /** Sends pending spans. */
  close(): Promise<void>
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * @param environment contains OpenTelemetry's variables, such as OTEL_EXPORTER_OTLP_ENDPOINT.
 * @param warn receives configuration errors, and one message each time that sending begins to fail.
 */
export function createTraces(version: string, environment: Environment, warn: (message: string) => void): Traces {
  const own = resourceFromAttributes({ 'service.name': 'plantstore', 'service.version': version })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(environment, warn),
    spanProcessors: [new BatchSpanProcessor({ exporter: telling(new OTLPTraceExporter(), warn) })],
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
    // Spans that the collector rejects are dropped; `warn` was already called.
    close: () => provider.shutdown().catch(() => {}),
  }
}

/** Uses OpenTelemetry's semantic conventions where they exist. */
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

/** Wraps an exporter to report when it begins to fail. */
function telling(exporter: SpanExporter, warn: (message: string) => void): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined && !isFailing) {
          warn(`traces cannot be sent and are dropped until they can be: ${result.error.message}`)
        }
        isFailing = result.error !== undefined
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

const samplers = ['always_on', 'always_off', 'traceidratio']

/** Reads OTEL_TRACES_SAMPLER and its argument; ignores invalid values, as OpenTelemetry specifies. */
function samplerOf(environment: Environment, warn: (message: string) => void): Sampler {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const given = environment['OTEL_TRACES_SAMPLER_ARG'] || '1'
  const isRatio = Number(given) >= 0 && Number(given) <= 1
  if (!isRatio) warn(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not ${given}; 1 is used`)
  const kind = name.replace(/^parentbased_/, '')
  if (!samplers.includes(kind)) {
    const known = samplers.flatMap((each) => [each, `parentbased_${each}`])
    warn(`OTEL_TRACES_SAMPLER must be one of ${known.join(', ')}, not ${name}; parentbased_always_on is used`)
    return new ParentBasedSampler({ root: new AlwaysOnSampler() })
  }
  const root =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(isRatio ? Number(given) : 1)
  return name === kind ? root : new ParentBasedSampler({ root })
}
