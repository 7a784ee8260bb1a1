import type { TelemetryEvent } from '../../ports/telemetry.js';
import type { CounterLike, HistogramLike, MeterLike } from './opentelemetry-like.js';

type Attributes = Record<string, string | number>;

/** Seconds, as the semantic conventions of OpenTelemetry advise for HTTP; a stream may last minutes. */
const RESPONSE_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const STREAM_S = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Every other method is `_OTHER`: visitors choose it, and each name would be a series of its own. */
const METHODS: ReadonlySet<string> = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** Measurements of a site, from its events. No attribute has more values than a site has routes, codes, blocks and platforms. */
export class SiteMetrics {
  readonly #requests: HistogramLike;
  readonly #streams: HistogramLike;
  readonly #openStreams: CounterLike;
  readonly #calls: HistogramLike;
  readonly #errors: CounterLike;
  readonly #tokens: CounterLike;
  readonly #cache: CounterLike;
  readonly #retries: CounterLike;
  readonly #broken: CounterLike;

  constructor(meter: MeterLike) {
    const seconds = (name: string, description: string, explicitBucketBoundaries: number[]): HistogramLike =>
      meter.createHistogram(`agent_bff.${name}`, { unit: 's', description, advice: { explicitBucketBoundaries } });
    const counter = (name: string, unit: string, description: string): CounterLike =>
      meter.createCounter(`agent_bff.${name}`, { unit, description });
    this.#requests = seconds('request.duration', 'Time to the head of the response', RESPONSE_S);
    this.#streams = seconds('stream.duration', 'Time to the end of a stream of events', STREAM_S);
    this.#calls = seconds('upstream.duration', "Time to the head of the platform's response", RESPONSE_S);
    this.#openStreams = meter.createUpDownCounter('agent_bff.streams.open', {
      unit: '{stream}',
      description: 'Streams of events that are open',
    });
    this.#errors = counter('errors', '{error}', 'Error responses by route and code');
    this.#tokens = counter('tokens', '{event}', 'Token events by configuration block and outcome');
    this.#cache = counter('cache', '{render}', 'Renders by cache outcome');
    this.#retries = counter('retries', '{call}', 'Calls sent again, by cause');
    this.#broken = counter('streams.broken', '{response}', 'Responses that broke after their head, by who broke them');
  }

  count(event: TelemetryEvent): void {
    switch (event.type) {
      case 'request':
        this.#requests.record(event.durationMs / 1_000, {
          'agent_bff.route': event.route,
          'http.request.method': METHODS.has(event.method) ? event.method : '_OTHER',
          'http.response.status_code': event.status,
          ...(event.status >= 500 && { 'error.type': String(event.status) }),
        });
        if (event.streams === true) this.#openStreams.add(1, { 'agent_bff.route': event.route });
        break;
      case 'stream_ended': {
        const route = { 'agent_bff.route': event.route };
        this.#openStreams.add(-1, route);
        this.#streams.record(event.durationMs / 1_000, { ...route, 'agent_bff.outcome': event.outcome });
        break;
      }
      case 'upstream':
        this.#calls.record(event.durationMs / 1_000, {
          'http.request.method': event.method,
          ...serverOf(event.origin),
          ...(event.status !== undefined && { 'http.response.status_code': event.status }),
          ...(event.failure !== undefined && { 'error.type': event.failure }),
        });
        break;
      case 'error':
        this.#errors.add(1, { 'agent_bff.route': event.route, 'error.type': event.code });
        break;
      case 'token':
        this.#tokens.add(1, { 'agent_bff.block': event.block, 'agent_bff.outcome': event.outcome });
        break;
      case 'cache':
        this.#cache.add(1, { 'agent_bff.route': event.route, 'agent_bff.outcome': event.outcome });
        break;
      case 'cache_fault':
        this.#cache.add(1, { 'agent_bff.route': 'store', 'agent_bff.outcome': `${event.operation} failed` });
        break;
      case 'stream_broken':
        this.#broken.add(1, { 'agent_bff.route': event.route, 'agent_bff.side': event.side });
        break;
      case 'retry':
        this.#retries.add(1, { 'agent_bff.cause': event.cause });
        break;
      case 'warning':
        break;
    }
  }
}

/** `server.address` and `server.port` of an origin (OpenTelemetry semantic conventions, "Server"). */
export function serverOf(origin: string): Attributes {
  const { protocol, hostname, port } = new URL(origin);
  return {
    'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
    'server.port': port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
  };
}
