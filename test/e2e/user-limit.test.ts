import { rateLimiter, type ServerConfig } from 'agent-bff';
import type { IncomingMessage } from 'node:http';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OLD, type Opened, openSite, Person } from '../support/conversation-people.js';
import { AGENTS, type RememberingAgent } from '../support/remembering-agents.js';

/** A session of the user and tenant in a header field, such as `ada@acme`. */
const auth = {
  name: 'shop',
  getToken: (request: { native: { request: unknown } }) => {
    const [subject, tenant] = String((request.native.request as IncomingMessage).headers['x-user'] ?? '').split('@');
    if (subject === '') return Promise.resolve({ kind: 'no-session' as const });
    const names = { ...(subject !== 'unnamed' && { subject }), ...(tenant !== undefined && { tenant }) };
    return Promise.resolve({ kind: 'token' as const, accessToken: `token-${String(subject)}`, ...names });
  },
};

describe('a limit for signed-in users', () => {
  let agent: RememberingAgent;
  let site: Opened | undefined;
  beforeAll(async () => {
    agent = await AGENTS['@a2a-js/sdk 0.3.14']!();
  });
  afterAll(() => agent.close());

  async function open(more: ServerConfig): Promise<(user: string) => Person> {
    await site?.close();
    site = await openSite(agent, { auth }, more);
    const { url } = site;
    return (user) => Object.assign(new Person(url, OLD), { user });
  }
  afterAll(() => site?.close());

  it('counts each by subject and tenant, before the agent is called', async () => {
    const person = await open({ userLimit: rateLimiter(new RateLimiterMemory({ points: 2, duration: 60 })) });
    const allowed = async (user: string): Promise<boolean> => {
      const before = agent.calls.length;
      const { seen } = await person(user).say('hello');
      expect([seen.status === 200, agent.calls.length > before]).toEqual([
        !seen.text.includes('RATE_LIMITED'),
        seen.status === 200,
      ]);
      return seen.status === 200;
    };
    const verdicts = [];
    for (const user of ['ada@acme', 'ada@acme', 'ada@acme', 'ada@globex', 'bob@acme', 'ada', 'ada@acme']) {
      verdicts.push(await allowed(user));
    }
    expect(verdicts).toEqual([true, true, false, true, true, true, false]);
  });

  it('counts requests that follow a task separately, with user and source in the key', async () => {
    const keys: string[] = [];
    const limiter = { consume: (key: string) => Promise.resolve(keys.push(key)) };
    const person = await open({ userLimit: rateLimiter(limiter) });
    const ada = person('ada@acme');
    const { taskId } = await ada.say('hello');
    await ada.rpc('tasks/get', { id: taskId });
    expect(keys).toEqual(['user:["acme","source","shop","ada"]', 'reading:user:["acme","source","shop","ada"]']);
  });

  it.each([
    ['a limiter that fails', 'ada', { consume: () => Promise.reject(new Error('down')) }],
    ['a session without a name', 'unnamed', { consume: () => Promise.resolve() }],
  ])('admits every user with %s, and warns', async (_what, user, limiter) => {
    const seen: object[] = [];
    const telemetry = { emit: (event: object) => void seen.push(event) };
    const person = await open({ userLimit: rateLimiter(limiter), telemetry });
    expect((await person(user).say('hello')).seen.status).toBe(200);
    expect(seen).toContainEqual(expect.objectContaining({ code: 'limit_unknown' }));
  });

  it('returns 401 without a session, without counting the request', async () => {
    const keys: string[] = [];
    const person = await open({ userLimit: rateLimiter({ consume: (key) => Promise.resolve(keys.push(key)) }) });
    expect((await person('').say('hello')).text).toContain('SESSION_REQUIRED');
    expect(keys).toEqual([]);
  });
});
