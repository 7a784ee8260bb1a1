import type { ChatHandlerOptions } from 'agent-bff';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NEW, OLD, openSite, Person, visitor } from '../support/conversation-people.js';
import { AGENTS, type RememberingAgent, WAIT } from '../support/remembering-agents.js';

const KEY = '00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210';
const SITE = { plan: 'gold', customer: (_request: unknown, { visitor: name }: { visitor: string | null }) => name };

/** The metadata of message and params, as the agent received them with its last message. */
function received(agent: RememberingAgent): { message: unknown; params: unknown } {
  const call = JSON.parse(agent.calls.at(-1) ?? '') as Record<string, never>;
  const params: Record<string, never> = call['params'] ?? call;
  return { message: params['message']?.['metadata'], params: params['metadata'] };
}

const both = (metadata: unknown): object => ({ message: metadata, params: metadata });

describe.each(['@a2a-js/sdk 0.3.14', '@a2a-js/sdk 1.3.0'])('an agent on %s', (name) => {
  const dialect = name.includes('1.3') ? NEW : OLD;
  let agent: RememberingAgent;
  beforeAll(async () => {
    agent = await AGENTS[name]!();
  });
  afterAll(() => agent.close());

  async function asked(a2a: ChatHandlerOptions, say: (person: Person) => Promise<unknown>, user = 'ada') {
    const site = await openSite(agent, a2a, { cacheKeys: [KEY] });
    const person = new Person(site.url, dialect);
    person.user = user;
    await say(person);
    await site.close();
    return received(agent);
  }

  it('receives the site’s metadata in the message and in the params', async () => {
    const a2a = { conversations: 'visitor', visitor, metadata: SITE } as const;
    expect(await asked(a2a, (ada) => ada.say('hello'))).toEqual(both({ plan: 'gold', customer: 'ada' }));
    const stream = (ada: Person) => ada.rpc(dialect.stream, { message: dialect.message('hello') });
    expect(await asked(a2a, stream)).toEqual(both({ plan: 'gold', customer: 'ada' }));
    expect(await asked(a2a, (ada) => ada.say('hello'), '')).toEqual(both({ plan: 'gold', customer: null }));
  });

  it.each<[string, ChatHandlerOptions]>([
    ['where conversations are open', { metadata: SITE }],
    ['where they belong to visitors', { conversations: 'visitor', visitorMetadata: 'pass', metadata: SITE }],
  ])('ignores members of the visitor that the site sets itself, %s', async (_where, a2a) => {
    const forged = String.raw`{"note":"mine","plan":"free","PLAN":"a","p\u006can":"b","_plan_":"c","Customer":1,"plan":"d"}`;
    const call = { jsonrpc: '2.0', id: 1, method: dialect.send };
    const params = { message: dialect.message('hello', { metadata: 'HERE' }), metadata: 'HERE' };
    const body = JSON.stringify({ ...call, params }).replaceAll('"HERE"', forged);
    const metadata = { plan: 'gold', customer: null, note: 'mine' };
    expect(await asked(a2a, (ada) => ada.call({ body }), '')).toEqual(both(metadata));
  });

  it('receives no member whose function returns undefined', async () => {
    const a2a = { metadata: { plan: () => undefined } };
    const metadata = { plan: 'forged', note: 'mine' };
    const say = (ada: Person) =>
      ada.rpc(dialect.send, { message: dialect.message('hello', { metadata }), metadata, ...dialect.sending(false) });
    expect(await asked(a2a, say)).toEqual(both({ note: 'mine' }));
  });

  it('does not receive the members with which some agents select a memory', async () => {
    const chosen = { resourceId: 'alice', userId: 'alice', user_id: 'alice', coderAgent: { workspacePath: '/' } };
    const say = (ada: Person) =>
      ada.rpc(dialect.send, {
        context: { userId: 'alice' },
        Context: { userId: 'alice' },
        message: dialect.message('hello', { metadata: { ...chosen, note: 'mine' } }),
        metadata: { ...chosen, note: 'mine' },
      });
    expect(await asked({ visitorMetadata: ['note', 'other'] }, say)).toEqual(both({ note: 'mine' }));
    expect(agent.calls.at(-1)).not.toContain('alice');
    expect(await asked({ visitorMetadata: 'drop' }, say)).toEqual(both({}));
    expect(agent.calls.at(-1)).not.toContain('alice');
  });

  it('receives metadata with messages only, not with other calls', async () => {
    const site = await openSite(agent, { conversations: 'visitor', metadata: { plan: 'gold' } });
    const person = new Person(site.url, dialect);
    const { taskId } = await person.say(WAIT);
    await person.rpc(dialect.cancel, { id: taskId, metadata: { plan: 'free' } });
    const [call] = agent.calls.filter((one) => /cancel/i.test(one)).slice(-1);
    expect([call, call]).toEqual([expect.stringContaining(taskId), expect.not.stringMatching(/gold|free/)]);
    await site.close();
  });
});

describe('over HTTP+JSON', () => {
  it('the agent receives the same', async () => {
    const agent = await AGENTS['@a2a-js/sdk 1.3.0']!();
    const site = await openSite(agent, { metadata: { plan: 'gold' } });
    const person = new Person(site.url, NEW);
    const message = NEW.message('hello', { metadata: { plan: 'free' } });
    expect((await person.call({ path: '/message:send', body: { message } })).status).toBe(200);
    expect(received(agent)).toEqual(both({ plan: 'gold' }));
    await site.close();
    await agent.close();
  });
});

describe('a site', () => {
  let agent: RememberingAgent;
  beforeAll(async () => {
    agent = await AGENTS['@a2a-js/sdk 0.3.14']!();
  });
  afterAll(() => agent.close());

  it.each<[string, ChatHandlerOptions]>([
    ['throws', { metadata: { plan: () => Promise.reject(new Error('secret XQ-4711')) } }],
    ['returns a value that is not JSON', { metadata: { plan: () => 10n } }],
  ])('whose function %s does not ask the agent, and names the option in the log', async (_how, a2a) => {
    const seen: unknown[] = [];
    const telemetry = { emit: (event: object) => void seen.push(event) };
    const site = await openSite(agent, a2a, { telemetry });
    const before = agent.calls.length;
    const { text } = await new Person(site.url, OLD).say('hello');
    expect([text, agent.calls.length]).toEqual([expect.stringContaining('INTERNAL_ERROR'), before]);
    expect(JSON.stringify(seen)).toContain('metadata.plan');
    expect(text + JSON.stringify(seen)).not.toContain('XQ-4711');
    await site.close();
  });

  it('logs once that the page’s context is dropped, and which option lets it pass', async () => {
    const seen: { readonly code?: string; readonly detail?: string }[] = [];
    const telemetry = { emit: (event: object) => void seen.push(event) };
    const site = await openSite(agent, { conversations: 'visitor' }, { telemetry });
    const person = new Person(site.url, OLD);
    for (let count = 0; count < 2; count += 1) await person.say('hello', { metadata: { pageContext: { url: '/' } } });
    expect(seen.filter(({ code }) => code === 'page_context_dropped')).toEqual([
      expect.objectContaining({ detail: expect.stringContaining('["pageContext"]') as string }),
    ]);
    await site.close();
  });
});
