import { ipv6Groups } from '../shared/paths.js';

/** Members with text for people, or with names: an address in them is not a link. */
const PROSE: ReadonlySet<string> = new Set([
  'name',
  'description',
  'id',
  'version',
  'protocolVersion',
  'tags',
  'examples',
]);
const GONE = Symbol('gone');

/** Maximum number of addresses in a card. After them every text is hidden, as each address may have to be parsed. */
const MAX_ADDRESSES = 5_000;

/** Hides the addresses in a card that its readers must not see. */
export class CardAddresses {
  readonly #hosts: ReadonlySet<string>;
  readonly #site: string;
  readonly #siteHost: string | undefined;
  #read = 0;

  /** Takes the host names of the agent and the platform in lower case, and the origin of the site, which its visitors know. */
  constructor(hosts: ReadonlySet<string>, site: string) {
    this.#hosts = hosts;
    this.#site = site;
    this.#siteHost = hostIn(site);
  }

  /**
   * A copy of a card, or of a part of it, without addresses that lead to the agent, the platform or a private network:
   * members and list entries with such an address are removed, and so are members named by one. A `provider` without its
   * `url` is removed as a whole, since A2A requires both. The `uri` of an extension stays: it is the name by which clients
   * request it.
   */
  shown(card: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return this.#copyOf(card, '') as Record<string, unknown>;
  }

  #copyOf(value: unknown, name: string): unknown {
    if (typeof value === 'string') return this.#isHidden(value) ? GONE : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value))
      return value.map((item: unknown) => this.#copyOf(item, name)).filter((item) => item !== GONE);
    const entries = Object.entries(value).map(([member, inner]): [string, unknown] => {
      const isText =
        typeof inner !== 'object' || (Array.isArray(inner) && inner.every((item) => typeof item === 'string'));
      const isName = PROSE.has(member) && isText;
      return [member, isName || (name === 'extensions' && member === 'uri') ? inner : this.#copyOf(inner, member)];
    });
    if (name === 'provider' && entries.some(([member, inner]) => member === 'url' && inner === GONE)) return GONE;
    const isShown = (member: string): boolean => !member.includes('//') || !this.#isHidden(member);
    return Object.fromEntries(entries.filter(([member, inner]) => inner !== GONE && isShown(member)));
  }

  #isHidden(text: string): boolean {
    const decoded = text.includes('%') ? text.replaceAll(/%3a/gi, ':').replaceAll(/%2f/gi, '/') : text;
    for (const [, inner = ''] of decoded.matchAll(INNER)) {
      this.#read += 1;
      if (this.#read > MAX_ADDRESSES) return true;
      const host = hostIn(inner);
      if (host !== this.#siteHost && this.#isInside(inner, host)) return true;
    }
    if (this.#read > MAX_ADDRESSES) return true;
    const [, plain = ''] = PLAIN_URL.exec(text) ?? [];
    if (PLAIN_HOST.test(plain) && !this.#isOff(lowered(plain))) return false;
    const url = urlOf(text);
    if (url !== undefined) {
      this.#read += 1;
      return url.origin !== this.#site && this.#isOff(hostOf(url));
    }
    const [, bare = '', port] = BARE.exec(text) ?? [];
    // A word is a host only with a port.
    if (port === undefined && !/[.[]/.test(bare)) return false;
    this.#read += 1;
    return this.#isInside(bare, hostIn(bare));
  }

  #isInside(written: string, host: string | undefined): boolean {
    return host !== undefined && (this.#hosts.has(host) || (WRITTEN_OUT.test(written) && isPrivateHost(host)));
  }

  #isOff(host: string): boolean {
    return this.#hosts.has(host) || isPrivateHost(host);
  }
}

/** The host of each address in a text, such as a list, markup, or a query with another address. */
const INNER = /:[/\\]{2,}(?:[^\s@/\\?#]*@)?(\[[^\s\]/\\]*\]|[^\s:/\\?#@,;|<>()"'`%[\]]+)/g;

/**
 * A host without a scheme's slashes, as in gRPC addresses: `agent.example:443`, `dns:agent.example`,
 * `me@agent.example/x`. An address for mail is none.
 */
const BARE =
  /^\s*(?!mailto:|[^\s@:/?#]+@[^\s@:/?#]+\s*$)(?:[a-z][\w+-]*:(?=\D|\d+\.)){0,2}(?:[^\s@/]*@)?(\[[^\]]*\]|[^\s:/\\?#@,[\]]+)(:\d*)?(?:[/\\?#,]\S*)?\s*$/i;
/** Names with a dot, `localhost`, and numbers in four parts. Other words and numbers are rarely hosts: `count:10`, `10.2.3`. */
const WRITTEN_OUT = /^\[|^localhost$|\.[^.]*[a-z]\.?$|^(?:\w+\.){3}\w/i;

/** Matches a common address with a scheme, and its host. */
const PLAIN_URL = /^[a-z][a-z0-9+.-]*:\/\/([\w.-]+)(?::\d{0,4})?(?:[/?#]|$)/i;
/** Matches a host in which a URL parser changes only the case. */
const PLAIN_HOST = /^(?!.*xn--)(?:[\w-]+\.)*[a-z][\w-]*\.?$/i;

function lowered(host: string): string {
  return host.replace(/\.$/, '').toLowerCase();
}

/** The host of an address in lower case, with or without a scheme; `undefined` if it has none. */
export function hostIn(address: string): string | undefined {
  const [, plain = address] = PLAIN_URL.exec(address) ?? [];
  if (PLAIN_HOST.test(plain)) return lowered(plain);
  const url = urlOf(address) ?? urlOf(`http://${address}`);
  return url && hostOf(url);
}

/** An address with a host, parsed as an https URL so that all spellings of a host are equal. */
function urlOf(address: string): URL | undefined {
  const text = address.replaceAll(/[\t\n\r]/g, '').replace(/^[^!-~]+/, '');
  const [scheme] = /^(?:(?:https?|wss?|ftp):[/\\]*|[a-z][a-z0-9+.-]*:\/\/|[/\\]{2})/i.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const read = `${/^https:/i.test(scheme) ? 'https' : 'http'}://${text.slice(scheme.length)}`;
  return URL.canParse(read) ? new URL(read) : undefined;
}

function hostOf({ hostname }: URL): string {
  return lowered(hostname);
}

/** Names that only resolve inside a network (RFC 6761, RFC 6762, RFC 8375; `.internal` as reserved by ICANN). */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|corp|home|home\.arpa)$/;

/** True if a host, in the URL standard's form, is private, loopback, or not routable on the internet. */
function isPrivateHost(host: string): boolean {
  if (host.startsWith('[')) return isPrivateIpv6(ipv6Groups(host.slice(1, -1)).map((group) => parseInt(group, 16)));
  if (/^[\d.]+$/.test(host)) return isPrivateIpv4(host.split('.').map(Number));
  return !host.includes('.') || PRIVATE_NAME.test(host);
}

function isPrivateIpv4([a = 0, b = 0, c = 0]: readonly number[]): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true;
  if (a === 100) return b >= 64 && b < 128;
  if (a === 169) return b === 254;
  if (a === 172) return b >= 16 && b < 32;
  if (a === 192) return b === 168 || (b === 0 && c === 0);
  return a === 198 && (b === 18 || b === 19);
}

function isPrivateIpv6(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups;
  // Unique local, link local and site local, multicast.
  if ((first & 0xfe00) === 0xfc00 || (first & 0xff80) === 0xfe80 || first >= 0xff00) return true;
  const embedded = (at: number): boolean =>
    isPrivateIpv4(groups.slice(at, at + 2).flatMap((group) => [group >> 8, group & 0xff]));
  const leading = groups.findIndex((group) => group !== 0);
  // An IPv4 address written as one of IPv6: compatible (with `::` and `::1`), mapped, translated, 6to4.
  if (leading === -1 || leading >= 6) return embedded(6);
  if ((leading === 5 && groups[5] === 0xffff) || (leading === 4 && groups[4] === 0xffff && groups[5] === 0))
    return embedded(6);
  if (first === 0x64 && second === 0xff9b) return groups[2] !== 0 || embedded(6);
  return first === 0x2002 && embedded(1);
}
