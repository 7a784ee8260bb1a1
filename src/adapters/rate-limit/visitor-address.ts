interface AddressedRequest {
  readonly ip?: unknown;
  readonly socket?: { readonly remoteAddress?: unknown };
}

/**
 * Who sent a request, as far as its address tells: the framework's own `ip` before that of the socket. `X-Forwarded-For` is not read here,
 * since anybody may send it: which proxy is believed is the framework's setting.
 */
export function visitorAddress(request: unknown): string | undefined {
  const { ip, socket } = Object(request) as AddressedRequest;
  const address = typeof ip === 'string' && ip !== '' ? ip : socket?.remoteAddress;
  return typeof address === 'string' ? ipv6Prefix64(address) : undefined;
}

/** One household has a /64 of IPv6 to itself, and could send every message from another address. */
function ipv6Prefix64(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').toLowerCase().split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back].map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.slice(0, 4).join(':')}::/64`;
}
