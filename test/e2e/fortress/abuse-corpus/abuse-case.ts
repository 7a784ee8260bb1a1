/** One message as a browser's socket sends it. A missing host, length and `Connection: close` are added. */
export interface WireRequest {
  readonly method: string;
  /** Raw, as in the request line. */
  readonly target: string;
  /** Whole lines, such as `Accept: *\/*`. */
  readonly fields: readonly string[];
  /** Latin-1: one character is one byte. */
  readonly body?: string;
  /** Default: `length`. */
  readonly framing?: 'length' | 'chunked' | 'none';
}

/** The messages that one connection sends at once. A string is sent unchanged. */
export interface WireStep {
  readonly send: readonly (WireRequest | string)[];
  /** Number of responses to wait for. Default: one for each message. */
  readonly answers?: number;
  /** The browser half-closes the connection after sending. Default false. */
  readonly halfCloses?: boolean;
  /** Sends each byte separately. Default false. */
  readonly byteByByte?: boolean;
}

/** A response of the platform. A string is written to the socket unchanged, and then the connection closes. */
export interface PlatformAnswer {
  readonly status?: number;
  readonly fields: readonly string[];
  readonly body?: string;
}

/** The allowed outcome of a case on every host. Rules for all cases are in `safety-rules.ts`. */
export interface SafeOutcome {
  /** The allowed status of each response. 0 stands for a connection that ends without one; the host's own response counts as 404. */
  readonly statuses: readonly number[];
  /** Requests to the platform: forbidden, allowed or required. */
  readonly platform: 'never' | 'may' | 'must';
  /** The maximum number of requests to the platform. Default: one for each message. */
  readonly mostRequests?: number;
  /** Texts that no request to the platform contains, in upper or lower case. */
  readonly notUpstream?: readonly string[];
  /** Texts that the requests to the platform contain. */
  readonly upstream?: readonly string[];
  /** Texts that no response contains, in upper or lower case. */
  readonly notAnswered?: readonly string[];
  /** Texts that the responses contain. */
  readonly answered?: readonly string[];
  /** Texts that each response contains, in order. */
  readonly answers?: readonly (readonly string[])[];
}

/** Outcomes that differ on some kinds of hosts. */
export interface HostOutcomes {
  /** On hosts whose URL parser reads the path before the routes do. */
  readonly resolving?: Partial<SafeOutcome>;
  /** On hosts that pass Web requests to the routes. */
  readonly web?: Partial<SafeOutcome>;
}

/**
 * One attack. In every text, `{n}` is a number unique to the case and `{canary}` an address that must not be called.
 * In responses, `{bearer}` is the credential the platform received.
 */
export interface AbuseCase {
  /** A short name, shown when the case fails. */
  readonly id: string;
  readonly steps: readonly WireStep[];
  /** The platform's responses in order; the last one is repeated. Default: a healthy platform. */
  readonly platform?: readonly (PlatformAnswer | string)[];
  readonly safe: SafeOutcome;
  readonly on?: HostOutcomes;
}

/** Cases with the same target. */
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

/** A render of a widget that no other case uses. */
export function render(fields: readonly string[] = [], body = '{}', query = ''): WireRequest {
  const target = `/api/service-surfaces/s-{n}/render${query}`;
  return { method: 'POST', target, fields: [...typed(fields), ...fields], body };
}

/** An action of a widget that no other case uses. */
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

/** A record of Ada, unless the fields have another cookie. */
export function record(fields: readonly string[] = [], target = '/api/service/conversations/{n}'): WireRequest {
  return { method: 'GET', target, fields: fields.some((field) => /^cookie:/i.test(field)) ? fields : [ADA, ...fields] };
}

/** The chat configuration record. */
export function config(fields: readonly string[] = [], query = ''): WireRequest {
  return { method: 'GET', target: `/api/a2a/config${query}`, fields };
}

/** The routes that send a credential, for cases that apply to each of them. */
export const ROADS: readonly { readonly name: string; readonly make: (fields: readonly string[]) => WireRequest }[] = [
  { name: 'chat', make: chat },
  { name: 'render', make: render },
  { name: 'record', make: record },
];

/** The response comes from the platform. */
export const PASSES: SafeOutcome = { statuses: [200], platform: 'must' };

/** The response comes from the site, without a call to the platform. */
export function refused(...statuses: readonly number[]): SafeOutcome {
  return { statuses, platform: 'never' };
}

/** The messages of one connection. Most cases have one step with one message. */
export function step(...send: readonly (WireRequest | string)[]): WireStep {
  return { send };
}

function typed(fields: readonly string[]): readonly string[] {
  return fields.some((field) => /^content-type\s*:/i.test(field)) ? [] : ['Content-Type: application/json'];
}
