import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Toolkit } from 'agent-bff';
import type {
  HttpHandler,
  HttpRequest,
  HttpResponse,
  HttpUpstream,
  UpstreamOutcome,
  UpstreamRequest,
} from '../../../../src/ports/http.js';
import { UndiciUpstream } from '../../../../src/adapters/undici/undici-upstream.js';
import type { Framework, HostMiddleware } from '../../../site/framework.js';
import { nodeHttpSite } from '../../../site/frameworks/node-http.js';
import { type AbuseWorld, startAbuseWorld } from '../abuse-corpus/abuse-world.js';

/** A forwarder that lacks one control. */
export interface AbuseMutant {
  readonly name: string;
  /** The family, and a case of it that must notice. */
  readonly noticedBy: readonly [family: string, caseId: string];
  readonly breaks: Break;
}

/** Where a forwarder can be broken; each hook changes what passes there. */
export interface Break {
  /** Before the routes, on Node's own objects. */
  readonly host?: (request: IncomingMessage, response: ServerResponse) => void;
  /** What the routes are asked. */
  readonly request?: (request: HttpRequest) => HttpRequest | Promise<HttpRequest>;
  /** What the platform is asked. */
  readonly send?: (request: UpstreamRequest, visit: Visit) => UpstreamRequest;
  /** What the platform's answer is taken for. */
  readonly outcome?: (outcome: UpstreamOutcome, visit: Visit, send: Send) => UpstreamOutcome | Promise<UpstreamOutcome>;
  /** What the browser is answered. */
  readonly answer?: (answer: HttpResponse, visit: Visit) => HttpResponse | Promise<HttpResponse>;
}

export type Send = (request: UpstreamRequest) => Promise<UpstreamOutcome>;

/** One browser's request, and what was exchanged for it. */
export interface Visit {
  readonly browser: HttpRequest;
  sent?: UpstreamRequest;
  got?: HttpResponse;
}

const visits = new AsyncLocalStorage<Visit>();

/** A site that works, but for one thing. */
export function startMutant({ name, breaks }: Pick<AbuseMutant, 'name' | 'breaks'>): Promise<AbuseWorld> {
  return startAbuseWorld(brokenHost(name, breaks), {
    toolkit: (toolkit) => brokenToolkit(toolkit, breaks),
    ports: { upstream: new BrokenUpstream(breaks) },
  });
}

function brokenHost(name: string, { host }: Break): Framework {
  const sound = nodeHttpSite(name);
  if (host === undefined) return sound;
  const before: HostMiddleware = (request, response, next) => {
    host(request, response);
    next();
  };
  return { ...sound, start: (options) => sound.start({ ...options, before }) };
}

function brokenToolkit(toolkit: Toolkit, breaks: Break): Toolkit {
  const broken = (handler: HttpHandler): HttpHandler => {
    return async (original) => {
      const browser = (await breaks.request?.(original)) ?? original;
      const visit: Visit = { browser };
      const answer = await visits.run(visit, () => handler(browser));
      return breaks.answer?.(answer, visit) ?? answer;
    };
  };
  const { handlers } = toolkit;
  return {
    ...toolkit,
    handlers: {
      credentials: handlers.credentials,
      chat: (options) => broken(handlers.chat(options)),
      surfaces: (auth, options) => broken(handlers.surfaces(auth, options)),
      conversations: (options) => broken(handlers.conversations(options)),
      cardAddress: (...asked) => handlers.cardAddress(...asked),
    },
  };
}

class BrokenUpstream implements HttpUpstream {
  readonly #inner = new UndiciUpstream({ connectMs: 5_000 });
  readonly #breaks: Break;

  constructor(breaks: Break) {
    this.#breaks = breaks;
  }

  async send(request: UpstreamRequest): Promise<UpstreamOutcome> {
    const visit = visits.getStore();
    if (visit === undefined) return this.#inner.send(request);
    const { send, outcome } = this.#breaks;
    const sent = send?.(request, visit) ?? request;
    visit.sent = sent;
    const got = await this.#inner.send(sent);
    const told = (await outcome?.(got, visit, (again) => this.#inner.send(again))) ?? got;
    if (told.kind === 'response') visit.got = told.response;
    return told;
  }

  close(options?: { readonly graceMs: number }): Promise<void> {
    return this.#inner.close(options);
  }
}
