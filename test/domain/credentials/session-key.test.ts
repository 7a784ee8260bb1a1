import { describe, expect, it } from 'vitest';
import { sessionKey } from '../../../src/domain/credentials/coalescing-session-source.js';
import type { HeaderFields } from '../../../src/ports/http.js';

const key = (headers: HeaderFields): string | undefined => sessionKey({ cookie: 'sid=1', ...headers }, ['sid']);

describe('the key of a session', () => {
  it.each(['sid=1', 'sid.0=1', 'sid.12=1', 'sid__0=1', 'sid__10=1', 'theme=dark; sid=1'])(
    'is found in %s',
    (cookie) => {
      expect(sessionKey({ cookie }, ['sid'])).toBeDefined();
    },
  );

  it.each(['', 'other=1', 'sidecar=1', 'sid.=1', 'sid_0=1', 'sid.a=1', 'xsid=1', 'sid'])(
    'is not found in %j',
    (cookie) => {
      expect(sessionKey({ cookie }, ['sid'])).toBeUndefined();
    },
  );

  it('is absent without a cookie', () => {
    expect(sessionKey({}, ['sid'])).toBeUndefined();
  });

  it('ignores other cookies', () => {
    expect(key({ cookie: ['a=1', 'sid=1'] })).toBe(key({ cookie: 'sid=1; b=2' }));
  });

  it.each(['authorization', 'host', 'x-forwarded-host'])('includes the header field %s', (name) => {
    expect(new Set([key({}), key({ [name]: 'a' }), key({ [name]: 'b' })]).size).toBe(3);
  });

  it('distinguishes the values of a repeated field', () => {
    expect(key({ host: ['ab', 'c'] })).not.toBe(key({ host: ['a', 'bc'] }));
  });
});
