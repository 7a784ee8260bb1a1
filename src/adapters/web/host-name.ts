/** A host and its port, as a header field names them. */
export interface HostName {
  /** In lower case; an IPv6 address in brackets and in its shortest form. */
  readonly name: string;
  /** Empty where none is written. */
  readonly port: string;
}

const HOST = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(0|[1-9]\d{0,4}))?$/i;
const HIGHEST_PORT = 65_535;

/**
 * Reads a host in the spelling browsers send (RFC 9110 §7.2). `undefined` for every spelling that another reader could take
 * for another host: user names, lists, escapes, and numbers such as `127.1`, which the URL standard reads as an address.
 */
export function readHost(text: string): HostName | undefined {
  const [, written = '', port = ''] = HOST.exec(text) ?? [];
  if (written === '' || Number(port) > HIGHEST_PORT || !URL.canParse(`http://${written}`)) return undefined;
  const { hostname: name } = new URL(`http://${written}`);
  // An IPv6 address has many spellings, and every reader takes them for the same one (RFC 5952).
  return written.startsWith('[') || name === written.toLowerCase() ? { name, port } : undefined;
}

/** Reads an origin of the web (RFC 6454 §6) as browsers write it: lower case, without the scheme's own port; `undefined` for `null`, lists and everything else. */
export function readOrigin(text: string): string | undefined {
  const [, written = '', rest = ''] = /^(https?):\/\/(.+)$/i.exec(text) ?? [];
  const host = readHost(rest);
  if (host === undefined) return undefined;
  const scheme = written.toLowerCase();
  const isUsual = host.port === '' || host.port === (scheme === 'https' ? '443' : '80');
  return `${scheme}://${host.name}${isUsual ? '' : `:${host.port}`}`;
}
