import { describe, expect, it } from 'vitest';
import { endpoint, requireEndpoint } from '../../../src/domain/upstream/platform-call.js';

describe('a configured address', () => {
  it.each([
    ['https://agent.example', 'https://agent.example', '/'],
    ['https://agent.example/', 'https://agent.example', '/'],
    ['https://agent.example/a2a', 'https://agent.example', '/a2a'],
    ['https://agent.example/a2a/', 'https://agent.example', '/a2a/'],
    ['HTTPS://agent.example/A2A', 'https://agent.example', '/A2A'],
    ['http://127.0.0.1:4000/a2a', 'http://127.0.0.1:4000', '/a2a'],
    ['http://[::1]:4000/a2a', 'http://[::1]:4000', '/a2a'],
    ['  https://agent.example/a2a\n', 'https://agent.example', '/a2a'],
    ['https://agent.example/a%20b', 'https://agent.example', '/a%20b'],
  ])('%j is split into %s and %s', (address, origin, path) => {
    expect(endpoint('a2aUrl', address)).toEqual({ origin, path });
  });

  it.each([
    'agent.example',
    '//agent.example/a2a',
    '/a2a',
    'ftp://agent.example',
    'view-source:https://agent.example',
    'xhttps://agent.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://',
    'https:///a2a',
    'https://user@agent.example',
    'https://user:secret@agent.example',
    'https://agent.example?key=secret',
    'https://agent.example/a2a?key=secret',
    'https://agent.example/a2a#fragment',
    'https://agent.example\\@evil.example',
    'https://agent.example/a\\b',
    'https://agent example/a2a',
    'https://agent.example/a b',
    'https://agent.example/a\r\nHost: x',
    'https://agent.example:99999/a2a',
    'https://agent.example:x/a2a',
    'https://:443/a2a',
    'https://[::1/a2a',
    'https://exa%mple/a2a',
  ])('is rejected with its field and without being quoted: %j', (address) => {
    let thrown: unknown;
    try {
      endpoint('a2aUrl', address);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      name: 'ConfigurationError',
      code: 'configuration_invalid',
      detail: 'Invalid URL in "a2aUrl".',
      hint: 'Set "a2aUrl" to an absolute http or https address without user name, query or fragment, such as https://platform.example/a2a.',
      block: 'configureServer',
      fields: ['a2aUrl'],
    });
  });
});

describe('a missing address', () => {
  it('is reported when needed, as a failure of the service credential', () => {
    expect(() => requireEndpoint('serviceApiUrl', undefined)).toThrow(
      expect.objectContaining({
        name: 'ServiceAuthError',
        code: 'service_auth_failed',
        detail: 'No address is configured for the platform.',
        hint: 'Set "serviceApiUrl" in configureServer.',
        block: 'configureServer',
        fields: ['serviceApiUrl'],
      }),
    );
  });

  it("is the agent's for the chat", () => {
    expect(() => requireEndpoint('a2aUrl', undefined)).toThrow('No address is configured for the agent.');
  });

  it('is not reported once configured', () => {
    const known = { origin: 'https://agent.example', path: '/' };
    expect(requireEndpoint('a2aUrl', known)).toBe(known);
  });
});
