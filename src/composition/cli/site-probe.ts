import { systemClock } from '../../adapters/system/system.js';
import { UndiciUpstream } from '../../adapters/undici/undici-upstream.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ToolkitPorts } from '../toolkit/ports.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { Toolkit } from '../toolkit/toolkit-type.js';
import { createToolkit } from '../toolkit/toolkit.js';
import { failed, type Finding, named, type Place, topLevel } from './finding.js';
import { networkFix, withMeaning } from './network-fix.js';
import { RecordingUpstream, type WatchedResponse } from './recording-upstream.js';

type ToldEvent = Extract<TelemetryEvent, { type: 'error' | 'warning' }>;

/** What is quoted of a response: enough to see who speaks, on few lines of a terminal. */
const MAX_QUOTED = 200;

/** The site of a configuration, visited without a browser: what works here works for visitors. */
export class SiteProbe {
  readonly toolkit: Toolkit;
  /** What the site told its operator, oldest first. */
  readonly #told: ToldEvent[] = [];
  readonly #upstream: RecordingUpstream;

  constructor(config: ServerConfig, { timeouts }: ResolvedConfig, ports: ToolkitPorts) {
    const clock = ports.clock ?? systemClock;
    const upstream = ports.upstream ?? new UndiciUpstream({ connectMs: timeouts.connectMs });
    this.#upstream = new RecordingUpstream(upstream, clock);
    const telemetry: Telemetry = {
      emit: (event) => {
        if (event.type === 'error' || event.type === 'warning') this.#told.push(event);
      },
    };
    // What is shared with the running site is left alone: its cache, and those who listen to it. Its visits use no name of the site, so any will do.
    const { cacheStore: _store, cacheKeys: _keys, allowedHosts: _hosts, ...own } = config;
    const { telemetry: _listener, ...others } = ports;
    this.toolkit = createToolkit({ ...own, telemetry }, { ...others, clock, upstream: this.#upstream });
  }

  /** Every response of the platform so far, oldest first. */
  get responses(): readonly WatchedResponse[] {
    return this.#upstream.responses;
  }

  /** The last error the site told its operator, or the warning of a code that stands for one. */
  told(code?: string): ToldEvent | undefined {
    return this.#told.findLast((one) => (code === undefined ? one.type === 'error' : one.code === code));
  }

  /** Asks one of the site's own routes. */
  ask(handler: HttpHandler, request: Partial<HttpRequest>): Promise<HttpResponse> {
    return handler({
      method: 'GET',
      path: '',
      query: '',
      body: null,
      bodyConsumed: false,
      publicUrl: 'http://localhost/api/a2a',
      signal: new AbortController().signal,
      native: { request: undefined },
      ...request,
      headers: { host: 'localhost', ...request.headers },
    });
  }

  /**
   * A failure as the site told its operator: what happened, with the reason from the log, and what to do.
   * `code`: of the event. `credential`: where to look when it was the credential that was refused; `usual`: where, when the site names no place.
   */
  failed(check: string, usual: Place, credential: Place, code?: string): Finding {
    const event = this.told(code);
    if (event?.summary === undefined) return failed(check, 'it failed', usual);
    const { summary, detail, block, fields = [] } = event;
    // An error says one sentence of what happened, and then what to do.
    const [, happened = summary, hint] = /^(.*?\.) (.*)$/s.exec(summary) ?? [];
    const reason = detail.startsWith(summary) ? detail.slice(summary.length).trim() : detail;
    const said = reason === '' || reason === happened ? '' : ` (${withMeaning(reason) ?? excerpt(reason)})`;
    const place = placeOf(block, fields, usual, credential);
    const lasting = `If this lasts, ask whoever runs the server of ${named(place)}.`;
    return failed(check, happened + said, place, networkFix(reason, place) ?? hint ?? lasting);
  }

  async close(): Promise<void> {
    await this.toolkit.close({ graceMs: 0 });
  }
}

/** The whole body of a response as JSON; `undefined` when it is none. */
export async function jsonOf({ body }: HttpResponse): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  if (typeof body === 'string' || body instanceof Uint8Array) chunks.push(Buffer.from(body));
  else if (body !== null) for await (const chunk of body) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/** The key has no block of its own, and refusals of a credential may name no fields. */
function placeOf(block: string | undefined, fields: readonly string[], usual: Place, credential: Place): Place {
  if (block === undefined) return usual;
  if (block === 'serviceApiKey') return topLevel(block);
  if (fields.length > 0) return { block, fields };
  return [credential, usual].find((one) => one.block === block) ?? { block, fields };
}

/** The start of somebody else's text. */
export function excerpt(text: string, most: number = MAX_QUOTED): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
