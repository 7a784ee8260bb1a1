import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINTED, NEW, OLD, type Opened, openSite, Person, SECRET, visitor } from '../support/conversation-people.js';
import { AGENTS, type RememberingAgent, WAIT } from '../support/remembering-agents.js';
import { ODD_REST_WAYS, ODD_WAYS } from '../support/odd-ways-in.js';
import { flipped, INTRUDER, type Known, OUTVOTED_WAYS, REST_WAYS, type Way, WAYS } from '../support/ways-in.js';

const KEYS = [
  '00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210',
  'f0e1d2c3b4a5968778695a4b3c2d1e0f0f1e2d3c4b5a69788796a5b4c3d2e1f0',
] as const;

describe.each(Object.entries(AGENTS))('behind an agent on %s', (name, start) => {
  const dialect = name.includes('1.3') ? NEW : OLD;
  let agent: RememberingAgent;
  let site: Opened;
  let alice: Person;
  let known: Known;

  beforeAll(async () => {
    agent = await start();
    site = await openSite(agent, { conversations: 'visitor' });
    alice = new Person(site.url, dialect);
    const first = await alice.say(SECRET);
    const { taskId: waiting } = await alice.say(WAIT);
    expect([first.taskId, waiting]).not.toContain('');
    expect(first.contextId).toMatch(MINTED);
    known = { dialect, victim: first, waiting, own: { taskId: '', contextId: '' } };
  });
  afterAll(async () => {
    await site.close();
    await agent.close();
  });

  const ways = Object.entries({
    ...WAYS,
    ...ODD_WAYS,
    ...(dialect === NEW ? prefixed({ ...REST_WAYS, ...ODD_REST_WAYS }) : {}),
  });
  it.each(ways)('another visitor does not get in by %s', async (_way, way) => {
    const bob = new Person(site.url, dialect);
    const own = await bob.say('hello');
    const before = agent.calls.length;
    const { status, text } = await bob.call(way({ ...known, own }));
    expect(text).not.toContain('XQ-4711');
    expect([status, text]).toEqual([status, expect.stringMatching(/"error"|urn:agent-bff:error:/)]);
    // At most, the agent was asked whose task it is.
    for (const call of agent.calls.slice(before)) expect(call).toMatch(/tasks\/get|GetTask|^GET .*\/tasks\/[^/]+$/);
    expect((await alice.rpc(dialect.get, { id: known.waiting })).text).toMatch(/working/i);
    const next = await alice.say('And now?', { contextId: known.victim.contextId });
    expect(next.text).toContain('XQ-4711');
    expect(next.text).not.toContain(INTRUDER);
  });

  it.each(Object.entries(OUTVOTED_WAYS))('another visitor stays in their own conversation by %s', async (_way, way) => {
    const bob = new Person(site.url, dialect);
    const own = await bob.say('hello');
    const before = agent.calls.length;
    const { status, text } = await bob.call(way({ ...known, own }));
    expect([status, text]).toEqual([200, expect.stringContaining(own.contextId)]);
    expect(text).not.toContain('XQ-4711');
    // The agent sees one message, and no name of the other visitor's work.
    const calls = agent.calls.slice(before);
    expect([calls.length, calls[0]]).toEqual([1, expect.stringContaining(own.contextId)]);
    for (const id of [known.victim.contextId, known.victim.taskId]) expect(calls[0]).not.toContain(id);
  });

  it('"someone else\'s" and "never existed" get the same answer, byte for byte', async () => {
    const bob = new Person(site.url, dialect);
    const own = await bob.say('hello');
    const answers = new Set<string>();
    for (const id of [known.victim.taskId, crypto.randomUUID()]) {
      answers.add((await bob.rpc(dialect.get, { id })).text.replace(/"requestId":"[^"]+"/, ''));
      answers.add((await bob.rpc(dialect.cancel, { id })).text.replace(/"requestId":"[^"]+"/, ''));
    }
    for (const contextId of [known.victim.contextId, flipped(known.victim.contextId), own.taskId]) {
      const { text } = await bob.rpc(dialect.send, { message: dialect.message('x', { contextId }) });
      answers.add(text.replace(/"requestId":"[^"]+"/, ''));
    }
    expect([...answers]).toEqual([expect.stringContaining('CONVERSATION_UNKNOWN')]);
  });

  it('the visitor continues, reads, follows and cancels their own', async () => {
    const carol = new Person(site.url, dialect);
    const first = await carol.say('I am Carol');
    const second = await carol.say('again', { contextId: first.contextId });
    expect([second.contextId, second.text]).toEqual([first.contextId, expect.stringContaining('I am Carol')]);
    const answer = await carol.say('the answer', { taskId: first.taskId });
    expect([answer.contextId, answer.text]).toEqual([first.contextId, expect.stringContaining('I am Carol')]);
    expect((await carol.rpc(dialect.get, { id: first.taskId })).text).toContain('I am Carol');
    const referring = await carol.say('about that', { referenceTaskIds: [first.taskId] });
    expect(referring.contextId).toMatch(MINTED);
    // Half of the agents do not compare task and context.
    const mixed = await carol.say('mixed', { taskId: first.taskId, contextId: referring.contextId });
    expect(mixed.text).toContain('CONVERSATION_UNKNOWN');
    const { taskId } = await carol.say(WAIT, { contextId: first.contextId });
    await carol.rpc(dialect.cancel, { id: taskId });
    await expect.poll(async () => (await carol.rpc(dialect.get, { id: taskId })).text).toMatch(/cancell?ed/i);
    for (const contextId of [null, '']) expect((await carol.say('new', { contextId })).contextId).toMatch(MINTED);
  });

  it('the visitor streams, and follows a task that is still running', async () => {
    const gil = new Person(site.url, dialect);
    const first = await gil.rpc(dialect.stream, { message: dialect.message('I am Gil') });
    const [, contextId = ''] = /"contextId":"([^"]+)"/.exec(first.text) ?? [];
    expect([contextId, first.setCookie.length]).toEqual([expect.stringMatching(MINTED), 1]);
    expect((await gil.say('again', { contextId })).text).toContain('I am Gil');
    const { taskId } = await gil.say(WAIT, { contextId });
    const following = gil.rpc(dialect.subscribe, { id: taskId });
    await expect.poll(() => agent.calls.at(-1)).toMatch(/resubscribe|SubscribeToTask/);
    await gil.rpc(dialect.cancel, { id: taskId });
    const { text } = await following;
    expect([text.includes(taskId), text.includes('"error"')]).toEqual([true, false]);
  });

  it.for(dialect === NEW ? ['HTTP+JSON'] : [])('the visitor does all of it over %s too', async () => {
    const hal = new Person(site.url, dialect);
    const sent = await hal.call({ path: '/message:send', body: { message: dialect.message('I am Hal') } });
    const { task: made } = JSON.parse(sent.text) as { task: { id: string; contextId: string } };
    expect([made.contextId, sent.setCookie.length]).toEqual([expect.stringMatching(MINTED), 1]);
    for (const more of [{ contextId: made.contextId }, { taskId: made.id }, { referenceTaskIds: [made.id] }]) {
      const { status } = await hal.call({ path: '/message:send', body: { message: dialect.message('x', more) } });
      expect(status).toBe(200);
    }
    const read = await hal.call({ method: 'GET', path: `/tasks/${made.id}?historyLength=1` });
    expect([read.status, read.text]).toEqual([200, expect.stringContaining('I am Hal')]);
    // The same conversation in the other binding.
    expect((await hal.rpc(dialect.get, { id: made.id })).text).toContain('I am Hal');
    const { taskId } = await hal.say(WAIT, { contextId: made.contextId });
    const cancelled = await hal.call({ path: `/tasks/${taskId}:cancel`, body: { id: taskId } });
    expect([cancelled.status, cancelled.text]).toEqual([200, expect.stringMatching(/cancell?ed/i)]);
  });

  it('after a restart and in another process, only the visitor gets in', async () => {
    const other = await openSite(agent, { conversations: 'visitor' });
    const again = new Person(other.url, dialect, alice.cookie);
    expect((await again.say('Hello', { contextId: known.victim.contextId })).text).toContain('XQ-4711');
    expect((await again.rpc(dialect.get, { id: known.victim.taskId })).text).toContain('XQ-4711');
    const bob = new Person(other.url, dialect);
    expect((await bob.say('Hello', { contextId: known.victim.contextId })).text).not.toContain('XQ-4711');
    await other.close();
  });

  it("the visitor's metadata does not reach the agent, and everything else does", async () => {
    const dora = new Person(site.url, dialect);
    const message = dialect.message('naïve 🙂', { metadata: { resourceId: 'alice' }, extensions: [] });
    const before = agent.calls.length;
    await dora.rpc(dialect.send, { message, metadata: { userId: 'alice' } });
    expect(agent.calls.slice(before)).toEqual([expect.not.stringMatching(/resourceId|userId/)]);
    expect(agent.calls.at(-1)).toContain('naïve 🙂');
  });

  it('signing in keeps the conversation, and hides it from the next person at that computer', async () => {
    const a2a = { conversations: 'visitor', visitor } as const;
    const named = await openSite(agent, a2a, { cacheKeys: [KEYS[0]] });
    const eve = new Person(named.url, dialect);
    const { contextId, taskId } = await eve.say(SECRET);
    const anonymous = eve.cookie;
    eve.user = 'eve';
    expect((await eve.say('signed in', { contextId })).text).toContain('XQ-4711');
    expect(eve.cookie).not.toBe(anonymous);
    expect((await eve.rpc(dialect.get, { id: taskId })).text).toContain('XQ-4711');
    const later = await eve.say('begun as Eve');

    const rotated = await openSite(agent, a2a, { cacheKeys: [KEYS[1], KEYS[0]] });
    const elsewhere = new Person(rotated.url, dialect, eve.cookie);
    elsewhere.user = 'eve';
    for (const id of [contextId, later.contextId])
      expect((await elsewhere.say('still', { contextId: id })).contextId).toBe(id);

    for (const user of ['', 'frank']) {
      for (const url of [named.url, rotated.url]) {
        const next = new Person(url, dialect, eve.cookie);
        next.user = user;
        for (const id of [contextId, later.contextId]) {
          expect((await next.say('hello', { contextId: id })).text).toContain('CONVERSATION_UNKNOWN');
        }
        expect((await next.rpc(dialect.get, { id: taskId })).text).not.toContain('XQ-4711');
      }
    }
    // Eve's own device elsewhere has no cookie, and still everything that Eve began signed in.
    const phone = new Person(named.url, dialect);
    phone.user = 'eve';
    expect((await phone.say('hi', { contextId: later.contextId })).text).toContain('begun as Eve');
    await named.close();
    await rotated.close();
  });
});

function prefixed(ways: Readonly<Record<string, Way>>): Record<string, Way> {
  return Object.fromEntries(Object.entries(ways).map(([name, way]) => [`HTTP+JSON: ${name}`, way]));
}
