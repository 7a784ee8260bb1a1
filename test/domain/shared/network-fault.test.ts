import { expect, it } from 'vitest';
import { networkFault } from '../../../src/domain/shared/network-fault.js';

const CUT = 'the connection was closed without a response, as by a server that expects https';
const NO_TLS = 'the server does not use TLS; the scheme may be http, or the port wrong';
const UNTRUSTED = 'its certificate is not signed by an authority this process trusts; NODE_EXTRA_CA_CERTS adds one';

it.each([
  ['ECONNREFUSED', 'no server listens on this port'],
  ['ENOTFOUND', 'no host has this name'],
  ['EAI_AGAIN', 'the name server does not respond'],
  ['EHOSTUNREACH', 'there is no route to this host'],
  ['ENETUNREACH', 'there is no route to this host'],
  ['ETIMEDOUT', 'the host does not accept the connection; a firewall may block it'],
  ['UND_ERR_CONNECT_TIMEOUT', 'the host does not accept the connection; a firewall may block it'],
  ['ECONNRESET', CUT],
  ['UND_ERR_SOCKET', CUT],
  ['HPE_INVALID_CONSTANT', 'the response is not HTTP; the scheme may be https, or the port wrong'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NO_TLS],
  ['EPROTO', NO_TLS],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet; compare the clocks'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['EWHATEVER', undefined],
])('the meaning of the error code %s is: %s', (code, meaning) => {
  expect(networkFault(code)).toBe(meaning);
});
