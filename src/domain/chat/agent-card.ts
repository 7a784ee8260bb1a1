import { UpstreamError } from '../shared/errors.js';
import { accept, checkArgument, members, text, texts, type OptionShape, readOptions } from '../shared/options.js';
import type { HttpResponse } from '../../ports/http.js';
import { isObject, parsedJson } from '../shared/json.js';
import { withoutTrailingSlashes } from '../shared/paths.js';
import { bodyText } from '../upstream/body-bytes.js';
import type { Endpoint } from '../upstream/platform-call.js';
import { addressFacts } from '../upstream/platform-error.js';
import { CardAddresses, hostIn } from './card-addresses.js';
import { MethodPolicy } from './method-policy.js';

/** An agent card as received: JSON of any protocol version, with any additional fields. */
export type AgentCardJson = Readonly<Record<string, unknown>>;

/**
 * Options of `rewriteAgentCard`.
 *
 * @public
 */
export interface AgentCardRewrite {
  /** Public address of the chat route, such as `https://site.example/api/a2a`. */
  readonly url: string;
  /** The A2A methods that are allowed, as in `a2aMethods`; the card shows denied ones as unsupported. Default `chat`. */
  readonly policy?: 'chat' | 'all' | readonly string[];
  /** Protocol bindings the site serves. Default: `JSONRPC` only. */
  readonly bindings?: readonly string[];
  /**
   * Origin of the agent as the site knows it (`a2aUrl`). Interfaces other than JSON-RPC are only served if they are on
   * it. Default: any origin.
   */
  readonly agentOrigin?: string;
  /** Origin of the platform as the site knows it (`serviceApiUrl`); addresses on its host are removed. Default: unknown. */
  readonly platformOrigin?: string;
}

/** Decides which methods are allowed, in either spelling. */
export type CardPolicy = Pick<MethodPolicy, 'allows'>;

/** The options of the package's own routes, which have already built their policy. */
export type CardRewrite = Omit<AgentCardRewrite, 'policy' | 'platformOrigin'> & {
  readonly policy?: AgentCardRewrite['policy'] | CardPolicy;
  readonly platformOrigin?: string | undefined;
};

const REWRITE: OptionShape<keyof AgentCardRewrite> = {
  options: {
    url: text,
    policy: accept(
      (value) => value === 'chat' || value === 'all' || Array.isArray(value),
      '"chat", "all", or a list of methods',
    ),
    bindings: texts,
    agentOrigin: text,
    platformOrigin: text,
  },
  required: ['url'],
};

export const MAX_CARD_BYTES = 1_048_576;
/** Maximum number of members and list entries in a card, which is copied and serialised for its readers. */
export const MAX_CARD_VALUES = 20_000;

const JSON_RPC = 'JSONRPC';
/**
 * Removed because editing the card breaks its signature, and the site holds the credential: a reader must not verify
 * the one or look for the other.
 */
const SECURITY = ['signatures', 'securitySchemes', 'securityRequirements', 'security'] as const;
/** The lists of endpoints in v1.0 and v0.3. */
const INTERFACES = ['supportedInterfaces', 'additionalInterfaces'] as const;

type Flags = readonly (readonly [flag: string, method: string])[];
const CAPABILITIES: Flags = [
  ['streaming', 'SendStreamingMessage'],
  ['pushNotifications', 'CreateTaskPushNotificationConfig'],
  ['extendedAgentCard', 'GetExtendedAgentCard'],
];
const CARD_FLAGS: Flags = [['supportsAuthenticatedExtendedCard', 'GetExtendedAgentCard']];

/**
 * Rewrites an agent card so that its readers talk to the site instead of the agent. Supports cards of v0.2, v0.3, v1.0,
 * and of two versions at once.
 *
 * Every endpoint becomes `url`. Interfaces the site does not serve, signatures and security schemes are removed;
 * capabilities are false if the policy denies their methods. Other addresses, such as `iconUrl`, are removed if their
 * host is the agent's, the platform's or a private one. All other fields stay, and the given card is not modified.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the option.
 * @throws UpstreamError (code `agent_binding_unsupported`) when the agent has no interface of a binding the site serves.
 *
 * @example
 * ```ts
 * import { rewriteAgentCard } from 'agent-bff';
 *
 * const response = await fetch('https://agent.example/.well-known/agent-card.json');
 * const card = rewriteAgentCard(await response.json(), { url: 'https://site.example/api/a2a' });
 * ```
 *
 * @public
 */
export function rewriteAgentCard(
  card: Readonly<Record<string, unknown>>,
  rewrite: AgentCardRewrite,
): Record<string, unknown> {
  checkArgument('rewriteAgentCard', 'card', card, members);
  return rewrittenCard(card, readOptions('rewriteAgentCard', REWRITE, rewrite));
}

/** Rewrites a card by the package's own options, which are already checked. */
export function rewrittenCard(card: AgentCardJson, rewrite: CardRewrite): Record<string, unknown> {
  const { url, policy = 'chat', bindings = [JSON_RPC], agentOrigin, platformOrigin = '' } = rewrite;
  const names = new Set(bindings.map((name) => name.toUpperCase()));
  const isServed = (offer: CardInterface): boolean =>
    names.has(offer.binding.toUpperCase()) &&
    (offer.binding.toUpperCase() === JSON_RPC || isSameOrigin(offer.url, agentOrigin));
  const interfaces = cardInterfaces(card);
  const served = interfaces.filter(isServed);
  const [first] = served;
  if (first === undefined) throw unsupported();

  const hosts = [agentOrigin ?? '', platformOrigin, ...interfaces.map((offer) => offer.url)].map(hostIn);
  const site = URL.canParse(url) ? new URL(url).origin : '';
  const addresses = new CardAddresses(new Set(hosts.filter((host) => host !== undefined)), site);
  const edited = addresses.shown(without(card, SECURITY));
  for (const field of INTERFACES) {
    if (Array.isArray(card[field])) {
      edited[field] = records(card[field])
        .filter((entry) => isServed(listedInterface(entry)))
        .map((entry) => ({ ...addresses.shown(entry), url }));
    }
  }
  if (typeof card['url'] === 'string') {
    // The preferred interface comes first if it is served. Otherwise JSON-RPC, which every site serves, if the agent does.
    const own = topInterface(card);
    const usual = served.find(({ binding }) => binding.toUpperCase() === JSON_RPC);
    edited['url'] = url;
    edited['preferredTransport'] = isServed(own) ? own.binding : (usual ?? first).binding;
  }
  const { skills, capabilities } = edited;
  if (Array.isArray(skills)) {
    edited['skills'] = skills.map((skill: unknown) => (isObject(skill) ? without(skill, SECURITY) : skill));
  }
  const crossing = typeof policy === 'object' && 'allows' in policy ? policy : new MethodPolicy(policy);
  if (isObject(capabilities)) edited['capabilities'] = clearDeniedFlags(capabilities, CAPABILITIES, crossing);
  return clearDeniedFlags(edited, CARD_FLAGS, crossing);
}

/**
 * A response of the agent with its card edited. `edit` receives the JSON value and its text, and returns `undefined` if
 * it finds no card.
 */
export async function withCardEdited(
  response: HttpResponse,
  edit: (value: unknown, text: string) => string | undefined,
): Promise<HttpResponse> {
  const { 'content-length': _length, etag: _etag, ...headers } = response.headers;
  const text = headers['content-encoding'] === undefined ? await bodyText(response.body, MAX_CARD_BYTES) : undefined;
  const body = text === undefined ? undefined : edit(parsedJson(text, MAX_CARD_VALUES), text);
  if (body !== undefined) return { ...response, headers, body };
  throw new UpstreamError('upstream_invalid_response', {
    detail: 'The agent did not send its extended card.',
  });
}

/** True for a JSON value with the members that every agent card has. */
export function isAgentCard(value: unknown): value is AgentCardJson {
  if (!isObject(value) || typeof value['name'] !== 'string') return false;
  return typeof value['url'] === 'string' || Array.isArray(value['supportedInterfaces']);
}

/** True if an address is on an origin; without an origin, always true. */
export function isSameOrigin(url: string, origin: string | undefined): boolean {
  return origin === undefined || (URL.canParse(url) && new URL(url).origin === new URL(origin).origin);
}

export interface CardInterface {
  readonly binding: string;
  readonly url: string;
}

/** The agent's own interfaces. */
export function cardInterfaces(card: AgentCardJson): readonly CardInterface[] {
  const listed = INTERFACES.flatMap((field) => records(card[field]).map(listedInterface));
  return typeof card['url'] === 'string' ? [topInterface(card), ...listed] : listed;
}

/** One entry of the list: v1.0 calls the binding `protocolBinding`, v0.3 `transport`. */
function listedInterface({ url, protocolBinding, transport }: AgentCardJson): CardInterface {
  return { url: textOf(url), binding: textOf(protocolBinding ?? transport) };
}

/** The top-level `url`; a card that names no binding for it means JSON-RPC (v0.3 §5.5.5). */
function topInterface({ url, preferredTransport }: AgentCardJson): CardInterface {
  return { url: textOf(url), binding: textOf(preferredTransport) || JSON_RPC };
}

/** The path of an interface without a trailing slash; `undefined` if its address cannot be parsed. */
export function interfacePath(url: string, { origin }: Endpoint): string | undefined {
  return URL.canParse(url, origin) ? withoutTrailingSlashes(new URL(url, origin).pathname) : undefined;
}

/** The value if it is a string, otherwise an empty string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Sets a flag to false if the policy denies its method; missing flags stay missing. */
function clearDeniedFlags(fields: AgentCardJson, flags: Flags, policy: CardPolicy): Record<string, unknown> {
  const denied = flags.filter(([flag, method]) => fields[flag] === true && !policy.allows(method));
  return { ...fields, ...Object.fromEntries(denied.map(([flag]) => [flag, false])) };
}

function without(fields: AgentCardJson, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** The objects in a list of a card. */
export function records(value: unknown): readonly AgentCardJson[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function unsupported(): UpstreamError {
  const detail = 'The agent has no JSON-RPC interface, the only one this site can forward to.';
  const hint = 'Enable the JSONRPC binding on the agent, and set "a2aUrl" in configureServer to its address.';
  return new UpstreamError('agent_binding_unsupported', addressFacts(detail, hint, ['a2aUrl']));
}

/** The versions of the protocol that a card names. */
export function namedVersions({ protocolVersion, supportedInterfaces }: AgentCardJson): readonly string[] {
  const named = [protocolVersion, ...records(supportedInterfaces).map((entry) => entry['protocolVersion'])];
  return named.map(textOf).filter((version) => version !== '');
}

/** No version, and the published ones (A2A v1.0 §3.6: major and minor number). */
const PUBLISHED: readonly string[] = ['', '0.2', '0.3', '1.0'];
/** More than an agent has, and too few to exhaust memory. */
const MAX_NAMED = 16;

/** The known protocol versions: published ones, and those the agent's cards name. Any other may be made up by a visitor. */
export class CardVersions {
  readonly #known = new Set(PUBLISHED);

  has(version: string): boolean {
    return this.#known.has(version);
  }

  /** Learns the versions that a card names. */
  learn(card: AgentCardJson): void {
    for (const version of namedVersions(card)) {
      if (this.#known.size >= PUBLISHED.length + MAX_NAMED) return;
      this.#known.add(version);
    }
  }
}
