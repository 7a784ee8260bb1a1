import type { TelemetryEvent } from '../../ports/telemetry.js';
import type { MeterLike } from './opentelemetry-like.js';

/** Measurements of a site, from its events. No attribute has more values than a site has routes, codes and blocks. */
export class SiteMetrics {
  readonly #requests: ReturnType<MeterLike['createHistogram']>;
  readonly #calls: ReturnType<MeterLike['createHistogram']>;
  readonly #errors: ReturnType<MeterLike['createCounter']>;
  readonly #tokens: ReturnType<MeterLike['createCounter']>;
  readonly #cache: ReturnType<MeterLike['createCounter']>;
  readonly #retries: ReturnType<MeterLike['createCounter']>;
  readonly #broken: ReturnType<MeterLike['createCounter']>;

  constructor(meter: MeterLike) {
    const unit = 'ms';
    this.#requests = meter.createHistogram('agent_bff.request.duration', {
      unit,
      description: 'Time to the response head',
    });
    this.#calls = meter.createHistogram('agent_bff.upstream.duration', {
      unit,
      description: "Time to the head of the platform's response",
    });
    this.#errors = meter.createCounter('agent_bff.errors', { description: 'Error responses by route and code' });
    this.#tokens = meter.createCounter('agent_bff.tokens', {
      description: 'Token events by configuration block and outcome',
    });
    this.#cache = meter.createCounter('agent_bff.cache', { description: 'Renders by cache outcome' });
    this.#retries = meter.createCounter('agent_bff.retries', { description: 'Calls sent again, by cause' });
    this.#broken = meter.createCounter('agent_bff.streams.broken', {
      description: 'Streams that broke, by who broke them',
    });
  }

  count(event: TelemetryEvent): void {
    switch (event.type) {
      case 'request':
        this.#requests.record(event.durationMs, { route: event.route, method: event.method, status: event.status });
        break;
      case 'upstream':
        this.#calls.record(event.durationMs, { outcome: event.failure ?? event.status ?? 0 });
        break;
      case 'error':
        this.#errors.add(1, { route: event.route, code: event.code });
        break;
      case 'token':
        this.#tokens.add(1, { block: event.block, outcome: event.outcome });
        break;
      case 'cache':
        this.#cache.add(1, { route: event.route, outcome: event.outcome });
        break;
      case 'cache_fault':
        this.#cache.add(1, { route: 'store', outcome: `${event.operation} failed` });
        break;
      case 'stream_broken':
        this.#broken.add(1, { route: event.route, side: event.side });
        break;
      case 'retry':
        this.#retries.add(1, { cause: event.cause });
        break;
      case 'warning':
        break;
    }
  }
}
