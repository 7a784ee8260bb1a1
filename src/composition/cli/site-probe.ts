import { systemClock } from '../../adapters/system/system.js';
import { parsedJson } from '../../domain/shared/json.js';
import { redactor } from '../../domain/shared/redaction.js';
import { bodyText } from '../../domain/upstream/body-bytes.js';
import type { HttpHandler, HttpRequest, HttpResponse, HttpUpstream } from '../../ports/http.js';
import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';
import type { ServerConfig } from '../config/server-config.js';
import { configuredSecrets, type ResolvedConfig } from '../config/resolve-config.js';
import { upstreamSource } from '../toolkit/connections.js';
import type { Toolkit, ToolkitPorts } from '../toolkit/toolkit-type.js';
import { createToolkit } from '../toolkit/toolkit.js';
import { failed, type Finding, named, networkFix, type Suspect, topLevel, withMeaning } from './finding.js';

type Trouble = Extract<TelemetryEvent, { type: 'error' | 'warning' }>;

/** The site of a configuration, and the progress of its visit. */
export interface Visit {
  readonly config: ServerConfig;
  readonly resolved: ResolvedConfig;
  readonly ports: ToolkitPorts;
  /** The suspect to check if the credential was rejected. */
  readonly credential: Suspect;
  /** Receives the name of each check. */
  readonly begin: (check: string) => void;
}

/** A response of the platform. */
interface PlatformResponse {
  readonly status: number;
  /** Lead of the local clock over the `Date` field, in milliseconds; `NaN` without that field. */
  readonly aheadMs: number;
}

/** Maximum characters quoted from a response: enough to identify the sender on a few lines. */
const MAX_QUOTED = 200;

/** The site of a configuration, called without a browser: requests that work here work for visitors. */
export class SiteProbe {
  readonly toolkit: Toolkit;
  /** Every response of the platform so far, oldest first. */
  readonly responses: PlatformResponse[] = [];
  /** Errors and warnings that the site reported, oldest first. */
  readonly #troubles: Trouble[] = [];
  readonly #visit: Visit;

  constructor(visit: Visit) {
    this.#visit = visit;
    const { config, ports } = visit;
    const { clock = systemClock, upstream: platform = upstreamSource(visit.resolved).connect() } = ports;
    const upstream: HttpUpstream = {
      send: async (request) => {
        const outcome = await platform.send(request);
        if (outcome.kind === 'response') {
          const { status, headers } = outcome.response;
          this.responses.push({ status, aheadMs: clock.now() - Date.parse(String(headers['date'])) });
        }
        return outcome;
      },
      close: (options) => platform.close(options),
    };
    const telemetry: Telemetry = {
      emit: (event) => {
        if (event.type === 'error' || event.type === 'warning') this.#troubles.push(event);
      },
    };
    // Leaves out what is shared with the running site: its cache and its telemetry. The requests here use no host name
    // of the site, so any name is allowed.
    const { cacheStore: _store, cacheKeys: _keys, allowedHosts: _hosts, ...own } = config;
    const { telemetry: _listener, ...others } = ports;
    this.toolkit = createToolkit({ ...own, telemetry }, { ...others, clock, upstream });
  }

  /** The last error the site reported, or the warning with a code that replaces one. */
  lastTrouble(code?: string): Trouble | undefined {
    return this.#troubles.findLast((one) => (code === undefined ? one.type === 'error' : one.code === code));
  }

  /** Sends a request to one of the site's own routes. */
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

  /** Sends a call in JSON-RPC to the chat route. */
  call(method: string, params: object, request: Partial<HttpRequest>): Promise<HttpResponse> {
    // The agent is tried, and not the check that keeps visitors apart.
    return this.ask(this.toolkit.handlers.chat({ conversations: 'open' }), {
      ...request,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...request.headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  }

  /** The same site without a credential. */
  withoutCredential(): SiteProbe {
    return new SiteProbe({ ...this.#visit, config: { ...this.#visit.config, serviceAuthStrategy: 'none' } });
  }

  /**
   * A failure as the site reported it to its operator: what happened, the reason from the log, and what to do. `code`
   * is that of the event, `usual` the suspect to check if the site names none.
   */
  failed(check: string, usual: Suspect, code?: string): Finding {
    const event = this.lastTrouble(code);
    if (event?.summary === undefined) return failed(check, 'it failed', usual);
    const { summary, detail, block, fields = [] } = event;
    // The first sentence of an error says what happened, the rest what to do.
    const [, happened = summary, hint] = /^(.*?\.) (.*)$/s.exec(summary) ?? [];
    const reason = detail.startsWith(summary) ? detail.slice(summary.length).trim() : detail;
    const why = reason === '' || reason === happened ? '' : ` (${withMeaning(reason) ?? excerpt(reason)})`;
    const suspect = suspectOf(block, fields, usual, this.#visit.credential);
    const lasting = `If this lasts, ask the operator of the server in ${named(suspect)}.`;
    return failed(check, happened + why, suspect, networkFix(reason, suspect) ?? hint ?? lasting);
  }

  /** The start of a text of the agent, without secrets. */
  quoted(text: string): string {
    const secrets = configuredSecrets(this.#visit.resolved);
    return excerpt(redactor([...secrets, this.toolkit.cachedServiceToken() ?? ''])(text));
  }

  async close(): Promise<void> {
    await this.toolkit.close({ graceMs: 0 });
  }
}

/** The whole body of a response as JSON; `undefined` if it is not JSON. */
export async function jsonOf({ body }: HttpResponse): Promise<unknown> {
  return parsedJson(await bodyText(body, Infinity));
}

/** A response in JSON-RPC. */
export interface RpcReply {
  readonly jsonrpc?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
  /** True if the site created the response itself instead of the agent. */
  readonly isOurs: boolean;
}

export async function rpcOf(response: HttpResponse): Promise<RpcReply> {
  const reply = Object(await jsonOf(response)) as Omit<RpcReply, 'isOurs'>;
  const [info] = [reply.error?.data].flat() as { domain?: unknown }[];
  return { ...reply, isOurs: info?.domain === 'agent-bff' };
}

/** A key or token has no block, and rejections of a credential may name no fields. */
function suspectOf(block: string | undefined, fields: readonly string[], usual: Suspect, credential: Suspect): Suspect {
  if (block === undefined) return usual;
  if (block === 'serviceApiKey' || block === 'serviceToken') return topLevel(block);
  if (fields.length > 0) return { block, fields };
  return [credential, usual].find((one) => one.block === block) ?? { block, fields };
}

/** The start of an external text. */
export function excerpt(text: string, most: number = MAX_QUOTED): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
