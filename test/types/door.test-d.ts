import { describe, it } from 'vitest';
import { route, type RouteMount } from '../../src/adapters/web/door.js';
import { PROBLEMS } from '../../src/adapters/web/error-response.js';
import { nothing } from '../../src/adapters/web/readers.js';
import type { HttpResponse } from '../../src/ports/http.js';

// Never called: the compiler is the test.
declare const mount: RouteMount;
declare const serve: () => HttpResponse;

const RULE = { name: 'orders', methods: ['GET'], errors: PROBLEMS, read: nothing } as const;

describe('the declaration of a route', () => {
  it('compiles with the pages that may use it and the allowance it uses', () => {
    route({ ...RULE, origin: 'own-pages', limit: 'none' }, mount, serve);
    route({ ...RULE, origin: 'own-pages-with-session', limit: () => 'message' }, mount, serve);
  });

  it('does not compile without the pages that may use it', () => {
    // @ts-expect-error `origin` has no default
    route({ ...RULE, limit: 'none' }, mount, serve);
  });

  it('does not compile without the allowance it uses', () => {
    // @ts-expect-error `limit` has no default
    route({ ...RULE, origin: 'own-pages' }, mount, serve);
  });

  it('does not compile with pages or an allowance that the door does not know', () => {
    // @ts-expect-error no page may change something without being listed
    route({ ...RULE, origin: 'any', limit: 'none' }, mount, serve);
    // @ts-expect-error an allowance is for messages or for reading
    route({ ...RULE, origin: 'own-pages', limit: () => 'free' }, mount, serve);
  });

  it('does not compile without a reader, or without a format of errors', () => {
    const { read: _read, ...unread } = RULE;
    const { errors: _errors, ...formless } = RULE;
    // @ts-expect-error `read` has no default
    route({ ...unread, origin: 'own-pages', limit: 'none' }, mount, serve);
    // @ts-expect-error `errors` has no default
    route({ ...formless, origin: 'own-pages', limit: 'none' }, mount, serve);
  });
});
