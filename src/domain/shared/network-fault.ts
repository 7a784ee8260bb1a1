const UNTRUSTED = 'its certificate is not signed by an authority this process trusts; NODE_EXTRA_CA_CERTS adds one';
const NO_TLS = 'TLS is not spoken there; perhaps the scheme is http, or the port another';
const NO_HTTP = 'HTTP is not spoken there; perhaps the scheme is https, or the port another';
const CUT = 'the connection was ended without a response; so does a server that expects https';
const NO_ROUTE = 'no route leads to this host';
const SILENT = 'the host takes no connection; a firewall may be in the way';

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens on this port',
  ENOTFOUND: 'no host has this name',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ETIMEDOUT: SILENT,
  UND_ERR_CONNECT_TIMEOUT: SILENT,
  ECONNRESET: CUT,
  UND_ERR_SOCKET: CUT,
  HPE_INVALID_CONSTANT: NO_HTTP,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  EPROTO: NO_TLS,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
};

/** The meaning of an error code of Node, OpenSSL or undici, for operators; `undefined` if unknown. */
export function networkFault(code: string): string | undefined {
  return code.startsWith('UNABLE_TO_') ? UNTRUSTED : MEANINGS[code];
}
