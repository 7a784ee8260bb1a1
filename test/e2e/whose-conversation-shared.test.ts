import type { ChatHandlerOptions, ServerConfig } from 'agent-bff';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { OLD, type Opened, openSite, Person, SECRET, visitor } from '../support/conversation-people.js';
import { AGENTS, type RememberingAgent } from '../support/remembering-agents.js';

const OWN = { conversations: 'visitor' } as const;
const USERS = { ...OWN, visitor } as const;
const keyOf = (digit: string): Pick<ServerConfig, 'cacheKeys'> => ({
  cacheKeys: [`00112233445566778899aabbccddeeff0123456789abcdeffedcba987654321${digit}`],
});

/** A browser: all sites on one host share its cookies, whatever their paths and ports. */
class Browser {
  user = '';
  readonly #cookies = new Map<string, string>();

  async say(site: Opened, text: string, contextId?: string) {
    const person = new Person(site.url, OLD, [...this.#cookies.values()].join('; '));
    person.user = this.user;
    const said = await person.say(text, contextId === undefined ? {} : { contextId });
    for (const line of said.seen.setCookie) {
      const [pair = ''] = line.split(';', 1);
      this.#cookies.set(pair.slice(0, pair.indexOf('=')), pair);
    }
    return said;
  }

  /** Continues a conversation; resolves with true if the agent remembers it. */
  async remembers(site: Opened, contextId: string): Promise<boolean> {
    return (await this.say(site, 'And now?', contextId)).text.includes('XQ-4711');
  }
}

describe('two sites on one host, before one agent or two', () => {
  let agents: readonly RememberingAgent[];
  beforeAll(async () => {
    agents = await Promise.all([AGENTS['@a2a-js/sdk 0.3.14']!(), AGENTS['@a2a-js/sdk 0.3.14']!()]);
  });
  afterAll(() => Promise.all(agents.map((agent) => agent.close())));

  async function open(agent: number, a2a: ChatHandlerOptions, config: ServerConfig = {}): Promise<Opened> {
    const site = await openSite(agents[agent]!, a2a, config);
    onTestFinished(() => site.close());
    return site;
  }

  it.each([0, 1])('let a visitor continue the conversations of both (agent %i)', async (second) => {
    const [one, two] = [await open(0, OWN), await open(second, OWN)];
    const browser = new Browser();
    const first = await browser.say(one, SECRET);
    const other = await browser.say(two, SECRET);
    for (let count = 0; count < 2; count += 1) {
      expect(await browser.remembers(one, first.contextId)).toBe(true);
      expect(await browser.remembers(two, other.contextId)).toBe(true);
    }
    // Before the same agent both are one site.
    expect(await browser.remembers(two, first.contextId)).toBe(second === 0);
    expect(await new Browser().remembers(one, first.contextId)).toBe(false);
  });

  it('let a visitor continue at both after a sign-in and a sign-out if one knows its users', async () => {
    const [everybody, users] = [await open(0, OWN), await open(0, USERS, keyOf('f'))];
    const browser = new Browser();
    const anonymous = await browser.say(everybody, SECRET);
    const before = await browser.say(users, SECRET);
    browser.user = 'ada';
    for (let count = 0; count < 2; count += 1) {
      expect(await browser.remembers(users, before.contextId)).toBe(true);
      expect(await browser.remembers(everybody, anonymous.contextId)).toBe(true);
    }
    const signedIn = await browser.say(users, SECRET);
    browser.user = '';
    expect(await browser.remembers(everybody, anonymous.contextId)).toBe(true);
    expect(await browser.remembers(users, before.contextId)).toBe(false);
    expect(await browser.remembers(users, signedIn.contextId)).toBe(false);
    browser.user = 'ada';
    expect(await browser.remembers(users, signedIn.contextId)).toBe(true);
  });

  it('with different keys keep the conversations that a user began signed in', async () => {
    const [one, two] = [await open(0, USERS, keyOf('e')), await open(1, USERS, keyOf('f'))];
    const browser = new Browser();
    browser.user = 'ada';
    const [first, other] = [await browser.say(one, SECRET), await browser.say(two, SECRET)];
    browser.user = '';
    await browser.say(one, 'hello');
    browser.user = 'ada';
    for (let count = 0; count < 2; count += 1) {
      expect(await browser.remembers(one, first.contextId)).toBe(true);
      expect(await browser.remembers(two, other.contextId)).toBe(true);
    }
    browser.user = 'bob';
    expect(await browser.remembers(one, first.contextId)).toBe(false);
  });
});

describe('a function of the site about a visitor', () => {
  let agent: RememberingAgent;
  beforeAll(async () => {
    agent = await AGENTS['@a2a-js/sdk 0.3.14']!();
  });
  afterAll(() => agent.close());

  type Failing = readonly [what: string, value: () => unknown];
  const FAILING: readonly Failing[] = [
    [
      'throws',
      () => {
        throw new Error('the secret of alice');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the secret of alice'))],
    ['never resolves', () => new Promise(() => undefined)],
  ];

  it.each<Failing>([
    ...FAILING,
    ['returns an object', () => ({ id: 'alice' })],
    ['returns a number', () => 7],
    ['returns true', () => true],
    ['returns a list', () => ['alice']],
    ['returns a function', () => () => 'alice'],
  ])('that %s in place of a name is a failure of the site, and nobody is admitted', async (_what, value) => {
    const config = { ...keyOf('f'), timeouts: { sessionMs: 50 } };
    const site = await openSite(agent, { ...OWN, visitor: value as never }, config);
    onTestFinished(() => site.close());
    const before = agent.calls.length;
    const { seen } = await new Person(site.url, OLD).say('hello');
    expect([seen.text, seen.setCookie]).toEqual([expect.stringContaining('INTERNAL_ERROR'), []]);
    expect([seen.text.includes('alice'), agent.calls.length]).toEqual([false, before]);
  });

  it.each<readonly [...Failing, code: string]>([
    ...FAILING.map(([what, value]): [...Failing, string] => [what, value, 'INTERNAL_ERROR']),
    ['returns a text', () => 'yes', 'INTERNAL_ERROR'],
    ['returns 1', () => 1, 'INTERNAL_ERROR'],
    ['returns an object', () => ({}), 'INTERNAL_ERROR'],
    ['returns nothing', () => undefined, 'CONVERSATION_UNKNOWN'],
  ])('that %s in place of true admits to no conversation', async (_what, value, code) => {
    const site = await openSite(agent, { ...OWN, ownsContext: value as never }, { timeouts: { sessionMs: 50 } });
    onTestFinished(() => site.close());
    const before = agent.calls.length;
    const { text } = await new Person(site.url, OLD).say('hello', { contextId: 'record-7' });
    expect([text, text.includes('alice')]).toEqual([expect.stringContaining(code), false]);
    expect(agent.calls.length).toBe(before);
  });
});
