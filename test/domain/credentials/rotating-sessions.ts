import { FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { CoalescingSessionSource } from '../../../src/domain/credentials/coalescing-session-source.js';
import type { RequestContext } from '../../../src/ports/http.js';
import type { SessionTokenSource } from '../../../src/ports/session-token-source.js';
import { memoryOf } from '../../support/memory.js';

interface Session {
  /** The only refresh token that is still valid. */
  current: number;
  /** The content of each cookie of this user: the refresh token and the expiry of its access token. */
  readonly cookies: Map<string, { readonly refresh: number; readonly expiresAt: number }>;
}

/** The browser's current cookie and its previous one. */
interface Browser {
  readonly cookie: string;
  readonly before: string;
  readonly changedAt: number;
}

const LIFE_MS = 60_000;

/** Waits for one turn of the event loop. */
export const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Cookie sessions with rotating refresh tokens, as session libraries and providers implement them.
 * A refresh token is valid once, and using an old one ends the session.
 */
export class RotatingSessions {
  readonly clock = new FakeClock();
  refreshes = 0;
  /** The delay of the provider's next response, in turns of the event loop. */
  delay: () => number = () => 1;
  readonly #sessions = new Map<string, Session>();
  readonly #browsers = new Map<string, Browser>();

  constructor(users: readonly string[]) {
    for (const user of users) this.#signIn(user);
  }

  tokens(): CoalescingSessionSource {
    return new CoalescingSessionSource({
      source: this.#source(),
      clock: this.clock,
      hash: (text) => text,
      hide: () => undefined,
      memory: memoryOf(this.clock),
    });
  }

  /** A request of a user's browser. A stale one was sent shortly before the last refreshed cookie arrived. */
  visit(user: string, stale = false): RequestContext {
    const browser = this.#browser(user);
    const isRecent = this.clock.now() - browser.changedAt < 5_000;
    const cookie = stale && isRecent ? browser.before : browser.cookie;
    return { headers: { cookie: `theme=dark; ${cookie}` }, native: { request: {}, response: { cookies: [] } } };
  }

  /** Stores the cookies of a response in the browser. */
  receive(user: string, visit: RequestContext): void {
    const browser = this.#browser(user);
    for (const cookie of this.cookiesOf(visit)) {
      this.#browsers.set(user, { cookie, before: browser.cookie, changedAt: this.clock.now() });
    }
  }

  cookiesOf({ native }: RequestContext): string[] {
    return (native.response as { cookies: string[] }).cookies;
  }

  #browser(user: string): Browser {
    const browser = this.#browsers.get(user);
    if (browser === undefined) throw new Error(`${user} did not sign in`);
    return browser;
  }

  #signIn(user: string): void {
    const cookie = `sid=${user}.0`;
    const expiresAt = this.clock.now() + LIFE_MS;
    this.#sessions.set(user, { current: 0, cookies: new Map([[cookie, { refresh: 0, expiresAt }]]) });
    this.#browsers.set(user, { cookie, before: cookie, changedAt: 0 });
  }

  #source(): SessionTokenSource {
    return {
      sessionCookies: ['sid'],
      sessionInCookie: true,
      getToken: async (request) => {
        const cookie = /sid=[^;]+/.exec(String(request.headers['cookie']))?.[0] ?? '';
        const user = /sid=(\w+)/.exec(cookie)?.[1] ?? '';
        const session = this.#sessions.get(user);
        const held = session?.cookies.get(cookie);
        if (session === undefined || held === undefined) return { kind: 'no-session' };
        const now = this.clock.now();
        if (now < held.expiresAt) {
          return { kind: 'token', accessToken: `${user}-${String(held.refresh)}`, expiresAt: held.expiresAt };
        }
        const isSpent = held.refresh !== session.current;
        session.current += 1;
        this.refreshes += 1;
        if (isSpent) return { kind: 'expired', log: 'invalid_grant' };
        const fresh = { refresh: session.current, expiresAt: now + LIFE_MS };
        for (let turns = this.delay(); turns > 0; turns -= 1) await tick();
        session.cookies.set(`sid=${user}.${String(fresh.refresh)}`, fresh);
        this.cookiesOf(request).push(`sid=${user}.${String(fresh.refresh)}`);
        return { kind: 'token', accessToken: `${user}-${String(fresh.refresh)}`, expiresAt: fresh.expiresAt };
      },
    };
  }
}
