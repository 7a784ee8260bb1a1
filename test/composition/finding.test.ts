import { describe, expect, it } from 'vitest';
import {
  clocks,
  failed,
  named,
  networkFix,
  type Suspect,
  refused,
  topLevel,
  warning,
  withMeaning,
} from '../../src/composition/cli/finding.js';
import { ConfigurationError } from '../../src/domain/shared/errors.js';

it.each([
  ['ECONNREFUSED', /^Start the server/],
  ['ENOTFOUND', /^Correct the host name in/],
  ['EAI_AGAIN', /^Configure a working name server/],
  ['ETIMEDOUT', /^Allow this machine to reach the host/],
  ['UND_ERR_CONNECT_TIMEOUT', /^Allow this machine to reach the host/],
  ['EHOSTUNREACH', /^Allow this machine to reach the host/],
  ['ENETUNREACH', /^Allow this machine to reach the host/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
  ['CERT_HAS_EXPIRED', /^Have the certificate of this server renewed/],
  ['CERT_NOT_YET_VALID', /^Set the clock of this machine/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /^Use a host name of the certificate/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /^Use http instead of https/],
  ['EPROTO', /^Use http instead of https/],
  ['HPE_INVALID_CONSTANT', /^Use https instead of http/],
  ['ECONNRESET', /^Use https instead of http/],
  ['UND_ERR_SOCKET', /^Use https instead of http/],
])('the doctor has advice for %s: %s', (code, advice) => {
  const fix = networkFix(`${code}: something else`, topLevel('a2aUrl'));
  expect(fix).toMatch(advice);
  expect(fix).toMatch(/ "a2aUrl" in configureServer\.$/);
});

it.each([
  ['EWHATEVER: something else', undefined],
  ['XECONNREFUSED', undefined],
  ['not ECONNREFUSED', undefined],
  ['', undefined],
  ['ECONNREFUSED: s3cr3t', 'ECONNREFUSED, no server listens on this port'],
])('the doctor has no advice without a known code at the start, and quotes no other text: %j', (text, meaning) => {
  expect(withMeaning(text)).toBe(meaning);
  if (meaning === undefined) expect(networkFix(text, topLevel('a2aUrl'))).toBeUndefined();
});

const IDP: Suspect = { block: 'idpA', fields: ['domain'] };

it.each<[Suspect, string]>([
  [topLevel(), 'configureServer'],
  [topLevel('a'), '"a" in configureServer'],
  [topLevel('a', 'b', 'c'), '"a", "b" and "c" in configureServer'],
  [IDP, '"domain" in the "idpA" configuration block'],
  [{ ...IDP, fields: [] }, 'the "idpA" configuration block'],
  [{ block: 'environment', fields: ['A', 'B'] }, 'the environment variable A, B'],
  [{ block: 'command line', fields: ['--a', '--b'] }, '--a, --b on the command line'],
])('the doctor names the suspect %j: %s', (suspect, words) => {
  expect(named(suspect)).toBe(words);
});

describe('the fix of a finding names the suspect, once', () => {
  it.each<[string, Suspect, string]>([
    ['', IDP, 'Check "domain" in the "idpA" configuration block.'],
    ['Look there.', IDP, 'Look there. Correct "domain" in the "idpA" configuration block.'],
    ['Fill "domain".', IDP, 'Fill "domain". Correct "domain" in the "idpA" configuration block.'],
    ['Fill in idpA.', IDP, 'Fill in idpA. Look at "domain" there.'],
    ['Fill "domain" in idpA.', IDP, 'Fill "domain" in idpA.'],
    ['Fill "b" in idpA.', { block: 'idpA', fields: ['a', 'b'] }, 'Fill "b" in idpA.'],
    ['Fill in idpA.', { ...IDP, fields: [] }, 'Fill in idpA.'],
    ['Set A.', { block: 'environment', fields: ['A'] }, 'Set A.'],
    ['Set it.', { block: 'environment', fields: ['A'] }, 'Set it. Correct the environment variable A.'],
    ['Pass --b.', { block: 'command line', fields: ['--a', '--b'] }, 'Pass --b.'],
    ['Pass it.', { block: 'command line', fields: ['--a'] }, 'Pass it. Correct --a on the command line.'],
    ['Set the clock.', { block: 'machine', fields: ['clock'] }, 'Set the clock.'],
  ])('%j in %j: %s', (fix, suspect, complete) => {
    const finding = { check: 'token', message: 'no', ...suspect, fix: complete };
    expect(failed('token', 'no', suspect, fix)).toEqual({ ...finding, result: 'failed' });
    expect(warning('token', 'no', suspect, fix)).toEqual({ ...finding, result: 'warning' });
  });
});

it.each([
  [undefined, 'configureServer'],
  ['idpA', 'idpA'],
])('an error without a block is one of configureServer: %j', (block, found) => {
  const error = new ConfigurationError({ detail: 'No.', ...(block !== undefined && { block }), fields: ['x'] });
  expect(refused('token', error)).toMatchObject({ result: 'failed', message: 'No.', block: found, fields: ['x'] });
});

it('an error of another origin is no finding', () => {
  expect(() => refused('token', new TypeError('a bug'))).toThrow('a bug');
});

it.each([
  [30_000, 'ok', "agrees with the platform's"],
  [-30_000, 'ok', "agrees with the platform's"],
  [30_001, 'warning', "the local clock is 30 s ahead of the platform's: tokens may be refused"],
  [-30_001, 'warning', "the local clock is 30 s behind the platform's: tokens may be refused"],
])('a clock that is %i ms ahead: %s', (aheadMs, result, message) => {
  expect(clocks('clock', aheadMs, "the platform's")).toMatchObject({ check: 'clock', result, message });
});
