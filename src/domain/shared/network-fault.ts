const UNTRUSTED = 'its certificate is not signed by an authority this process trusts; NODE_EXTRA_CA_CERTS adds one';
const NO_TLS = 'the server does not use TLS; the scheme may be http, or the port wrong';
const NO_HTTP = 'the response is not HTTP; the scheme may be https, or the port wrong';
const CUT = 'the connection was closed without a response, as by a server that expects https';
const NO_ROUTE = 'there is no route to this host';
const SILENT = 'the host does not accept the connection; a firewall may block it';

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens on this port',
  ENOTFOUND: 'no host has this name',
  EAI_AGAIN: 'the name server does not respond',
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
  UND_ERR_PRX_TLS: 'the certificate of the proxy is for another host name',
  UND_ERR_CLOSED: 'the dispatcher was closed',
  UND_ERR_DESTROYED: 'the dispatcher was closed',
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
