/** One message as a browser's socket sends it. What is not said here is added: a host, a length, and the end of the connection. */
export interface WireRequest {
  readonly method: string;
  /** Raw, as it stands in the request line. */
  readonly target: string;
  /** Whole lines, such as `Accept: *\/*`. */
  readonly fields: readonly string[];
  /** Latin-1: one character is one byte. */
  readonly body?: string;
  /** Default: `length`. */
  readonly framing?: 'length' | 'chunked' | 'none';
}

/** What one connection sends, at once; texts go as they are. */
export interface WireStep {
  readonly send: readonly (WireRequest | string)[];
  /** How many answers to wait for. Default: one for each message. */
  readonly answers?: number;
  /** The browser says that nothing more will come, as soon as it has sent. Default false. */
  readonly halfCloses?: boolean;
  /** Each byte comes for itself. Default false. */
  readonly byteByByte?: boolean;
}

/** How the platform answers; texts go to the socket as they are, and then it closes. */
export interface PlatformAnswer {
  readonly status?: number;
  readonly fields: readonly string[];
  readonly body?: string;
}

/** What may come of a case, wherever it is tried. What holds for every case is in `safety-rules.ts`. */
export interface SafeOutcome {
  /** Allowed for every answer; 0: the connection ends without one. The host's own answer counts as 404. */
  readonly statuses: readonly number[];
  /** Whether the platform hears of it. */
  readonly platform: 'never' | 'may' | 'must';
  /** Most requests the platform may get. Default: one for each message. */
  readonly mostRequests?: number;
  /** Texts that no request to the platform holds, in any case. */
  readonly notUpstream?: readonly string[];
  /** Texts that a request to the platform holds. */
  readonly upstream?: readonly string[];
  /** Texts that no answer holds, in any case. */
  readonly notAnswered?: readonly string[];
  /** Texts that an answer holds. */
  readonly answered?: readonly string[];
  /** Texts of each answer, in order. */
  readonly answers?: readonly (readonly string[])[];
}

/** Kinds of hosts where something else is safe too. */
export interface HostOutcomes {
  /** Its own URL parser reads a path before the routes do. */
  readonly resolving?: Partial<SafeOutcome>;
  /** It gives the routes Web requests. */
  readonly web?: Partial<SafeOutcome>;
}

/**
 * One thing an attacker tries. In every text `{n}` is a number no other case has, `{canary}` an address nobody may call,
 * and in answers `{bearer}` the credential the platform was sent.
 */
export interface AbuseCase {
  /** Named in a failure, in a few words. */
  readonly id: string;
  readonly steps: readonly WireStep[];
  /** The platform's first, second, … answer; the last one again and again. Default: a healthy platform. */
  readonly platform?: readonly (PlatformAnswer | string)[];
  readonly safe: SafeOutcome;
  readonly on?: HostOutcomes;
}

/** Cases that attack one thing. */
export interface AbuseFamily {
  readonly name: string;
  readonly cases: readonly AbuseCase[];
}

/** Signed in as Ada, whose credential upstream is `token-of-ada`. */
export const ADA = 'Cookie: session=ada';
export const BOB = 'Cookie: session=bob';

export const MESSAGE: string = JSON.stringify({
  jsonrpc: '2.0',
  id: 7,
  method: 'SendMessage',
  params: { message: { messageId: 'm-{n}', role: 'ROLE_USER', parts: [{ text: 'Hello' }] } },
});

/** A chat message. */
export function chat(fields: readonly string[] = [], body: string = MESSAGE, target = '/api/a2a'): WireRequest {
  return { method: 'POST', target, fields: [...typed(fields), ...fields], body };
}

/** A render of a widget of its own. */
export function render(fields: readonly string[] = [], body = '{}', query = ''): WireRequest {
  const target = `/api/service-surfaces/s-{n}/render${query}`;
  return { method: 'POST', target, fields: [...typed(fields), ...fields], body };
}

/** An action of a widget of its own. */
export function action(fields: readonly string[] = [], body = '{}'): WireRequest {
  return {
    method: 'POST',
    target: '/api/service-surfaces/s-{n}/actions/buy',
    fields: [...typed(fields), ...fields],
    body,
  };
}

/** The theme of a widget. */
export function theme(fields: readonly string[] = []): WireRequest {
  return { method: 'GET', target: '/api/service-surfaces/s-{n}/theme.css', fields };
}

/** A record of Ada's, unless the fields name somebody else. */
export function record(fields: readonly string[] = [], target = '/api/service/conversations/{n}'): WireRequest {
  return { method: 'GET', target, fields: fields.some((field) => /^cookie:/i.test(field)) ? fields : [ADA, ...fields] };
}

/** The chat configuration record. */
export function config(fields: readonly string[] = [], query = ''): WireRequest {
  return { method: 'GET', target: `/api/a2a/config${query}`, fields };
}

/** The ways through a site that carry a credential, for what must hold on each of them. */
export const ROADS: readonly { readonly name: string; readonly make: (fields: readonly string[]) => WireRequest }[] = [
  { name: 'chat', make: chat },
  { name: 'render', make: render },
  { name: 'record', make: record },
];

/** Gets an answer of the platform. */
export const PASSES: SafeOutcome = { statuses: [200], platform: 'must' };

/** Is answered by the site itself. */
export function refused(...statuses: readonly number[]): SafeOutcome {
  return { statuses, platform: 'never' };
}

/** One connection's messages, as a step; most cases have one with one message. */
export function step(...send: readonly (WireRequest | string)[]): WireStep {
  return { send };
}

function typed(fields: readonly string[]): readonly string[] {
  return fields.some((field) => /^content-type\s*:/i.test(field)) ? [] : ['Content-Type: application/json'];
}
