import type { ServerConfig, ToolkitPorts } from 'agent-bff';
import { FakeUpstream } from 'agent-bff/testing';
import { expect, vi } from 'vitest';
import { type Finding, topLevel } from '../../src/composition/cli/finding.js';
import { platformFindings } from '../../src/composition/cli/platform-findings.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import type { HttpResponse, UpstreamOutcome } from '../../src/ports/http.js';

/** The doctor's visit of a made-up agent and platform, in this process. */

export const A2A = 'https://agent.example/team/a2a';
export const OWN_CARD = '/team/a2a/.well-known/agent-card.json';
export const SHARED_CARD = '/.well-known/agent-card.json';
export const CARD = { name: 'Agent', url: A2A, protocolVersion: '0.3.0', capabilities: { streaming: true } };

export const json = (value: object, status = 200): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});
export const page = (status: number): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<h1>Shop',
});
export const rpcError = (code: number, status = 200) =>
  json({ jsonrpc: '2.0', id: 1, error: { code, message: 'no: hunter2-hunter2' } }, status);

/** The outcome of a call to a server of another protocol. */
export const NO_HTTP = { kind: 'failure', reason: 'invalid', log: 'HTTPParserError' } as const;

/** One call of the doctor to the agent. */
export interface Call {
  readonly method: string;
  readonly params: { readonly message?: object };
  /** True with the API key. */
  readonly isKnown: boolean;
  readonly version: unknown;
  readonly accept: unknown;
  readonly signal: AbortSignal;
}
export type Reply = (call: Call) => HttpResponse | UpstreamOutcome;

/** Knows no task, and wants the API key. */
export const wantsKey = ({ isKnown }: Call): HttpResponse => (isKnown ? rpcError(-32_001) : json({ error: 'no' }, 401));

export interface World {
  /** The card, and its path; undefined if there is none. `NO_HTTP` for a server of another protocol. */
  readonly card?: object | undefined;
  readonly at?: string;
  readonly reply?: Reply;
  /** The responses of the platform. */
  readonly api?: (path: string) => HttpResponse;
  readonly config?: ServerConfig;
  readonly ports?: ToolkitPorts;
  readonly message?: string;
  readonly surface?: string;
}

export const lineOf = ({ result, check, message, fix }: Finding): string =>
  `${result} ${check}: ${message}${fix === undefined ? '' : ` | ${fix}`}`;

/** The doctor's findings as lines, the names of its checks, and its calls. */
export async function examined(world: World) {
  const { at = OWN_CARD, reply = wantsKey, api = () => page(404), config, ports, message = '', surface = '' } = world;
  const card = 'card' in world ? world.card : CARD;
  const calls: Call[] = [];
  const paths: string[] = [];
  const upstream = new FakeUpstream(({ method, origin, path, headers, body, signal }) => {
    paths.push(path);
    if (origin === 'https://platform.example') return api(path);
    const { 'x-api-key': key, 'a2a-version': version, accept } = headers;
    if (method === 'GET' && card === NO_HTTP) return NO_HTTP;
    // An agent of both versions returns an older card unless asked for the new one.
    const older = version === '1.0' ? {} : { supportedInterfaces: undefined };
    if (method === 'GET') return card !== undefined && path === at ? json({ ...card, ...older }) : page(404);
    const call = { ...(JSON.parse(new TextDecoder().decode(body as Uint8Array)) as Call), isKnown: key !== undefined };
    calls.push({ ...call, version, accept, signal });
    return reply({ ...call, version, accept, signal });
  });
  const given: ServerConfig = { a2aUrl: A2A, serviceApiKey: 'hunter2-hunter2', ...config };
  const all = { upstream, ...ports };
  const begun: string[] = [];
  const findings = await platformFindings(
    {
      config: given,
      resolved: resolveConfig(given, all),
      ports: all,
      credential: topLevel('serviceApiKey'),
      begin: (check) => begun.push(check),
    },
    { message, surface },
  );
  const lines = findings.map(lineOf);
  expect(lines.join('')).not.toMatch(/s3cr3t|hunter2/);
  return { lines, begun, calls, paths };
}

/** The page's clock, in milliseconds. */
export const clock = { now: 0 };

/** Stops the page's clock, for `beforeEach`: only the world moves it. */
export function stopClock(): void {
  clock.now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now);
}

export const CARD_OK = `ok agent card: "Agent", protocol 0.3.0, streams; found at https://agent.example${OWN_CARD}`;
export const ACCEPTED = 'ok agent: accepts the credential; without it, it responds 401';
export const UNTRIED =
  'warning agent: the credential was not tried: the response is the same without it | Try it with a message: npx agent-bff doctor --message "Hello".';
export const CHECK = 'Check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent.';
export const LOOK =
  'Look at the log of the agent, which received the request; if it needs another credential, correct "serviceAuthStrategy" in configureServer.';
export const NOT_FOUND =
  'failed agent: The agent was not found at its address. (status 404 from the agent, text/html: <h1>Shop)';
export const NO_CARD = expect.stringMatching(
  /^warning agent card: No agent card found\. \(.*\) \| Check "a2aUrl" in configureServer, or set "agentCardUrl" to the address of the card\.$/,
) as string;
export const FAILED_NO_CARD = expect.stringMatching(/^failed agent card: No agent card found\./) as string;
export const SKIPPED = 'skipped: fix the above first';
/** The interfaces of a card of two versions. */
export const BOTH = [
  { url: A2A, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { url: A2A, protocolVersion: '0.3.0' },
];

export const EVENT = 'data: {}\n\n';

/** A stream whose pieces arrive at these times; `break` breaks it. */
export function streaming(...pieces: (readonly [at: number, text: string])[]): HttpResponse {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (const [at, text] of pieces) {
      clock.now = at;
      if (text === 'break') throw new Error('s3cr3t');
      yield new TextEncoder().encode(text);
    }
  };
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: chunks() };
}
