import { describe, expect, it } from 'vitest';
import { errorOf } from '../../support/error-of.js';
import { json, type Person, VisitedWorld } from './visited-world.js';

const UNKNOWN = {
  code: 'conversation_unknown',
  detail: 'There is no such conversation, or it is not yours.',
  hint: 'Start a new conversation.',
  rpcCode: -32001,
};
const MINTED = /^[a-f][0-9a-f]{7}-[0-9a-f]{4}-8/;
const LOOKUP = 'GetTask {"id":"task-1","historyLength":0}';

interface Names {
  readonly contextId: string;
  readonly taskId: string;
}

/** Every way to name a conversation or a task, and the number of look-ups it needs. */
const WAYS: Readonly<
  Record<string, readonly [lookups: number, way: (person: Person, names: Names) => Promise<unknown>]>
> = {
  'a message in it': [0, (person, { contextId }) => person.send({ contextId })],
  'a stream in it': [0, (person, { contextId }) => person.call('message/stream', { message: { contextId } })],
  'a message for its task': [1, (person, { taskId }) => person.send({ taskId })],
  'a message for both': [1, (person, names) => person.send(names)],
  'a reference to its task': [1, (person, { taskId }) => person.send({ referenceTaskIds: [taskId] })],
  GetTask: [1, (person, { taskId: id }) => person.call('GetTask', { id })],
  CancelTask: [1, (person, { taskId: id }) => person.call('CancelTask', { id })],
  SubscribeToTask: [1, (person, { taskId: id }) => person.call('SubscribeToTask', { id })],
  'tasks/get of v0.3': [1, (person, { taskId: id }) => person.call('tasks/get', { id })],
  'POST /message:send': [
    0,
    (person, { contextId }) => person.rest('POST', '/message:send', { message: { contextId } }),
  ],
  'GET /tasks/{id}': [1, (person, { taskId }) => person.rest('GET', `/tasks/${taskId}`)],
  'POST /tasks/{id}:cancel': [1, (person, { taskId: id }) => person.rest('POST', `/tasks/${id}:cancel`, { id })],
  'GET /tasks/{id}:subscribe': [1, (person, { taskId }) => person.rest('GET', `/tasks/${taskId}:subscribe`)],
};

describe.each(Object.entries(WAYS))('by %s', (_name, [lookups, way]) => {
  it('a visitor gets into their own conversation', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    await way(ada, { contextId: ada.begun(), taskId: 'task-1' });
    expect([ada.lookups, world.calls.length]).toEqual([lookups, lookups + 1]);
    await way(ada, { contextId: world.tasks.get('task-1') ?? '', taskId: 'task-1' });
    expect([ada.lookups, world.calls.length]).toEqual([lookups, lookups + 2]);
  });

  it('another visitor gets the same error as for one that never existed, and the agent gets no message', async () => {
    const world = new VisitedWorld();
    const [ada, bob] = [world.visitor('ada'), world.visitor('bob')];
    const contextId = ada.begun();
    const foreign = await errorOf(way(bob, { contextId, taskId: 'task-1' }));
    const missing = await errorOf(way(bob, { contextId: crypto.randomUUID(), taskId: 'task-2' }));
    expect(foreign).toMatchObject(UNKNOWN);
    expect(missing).toEqual(foreign);
    // A message in a foreign context ends before its task is looked up.
    expect(
      world.calls.every((call) => /^GetTask|^tasks\/get|^GET \/rest\/tasks\/task-\d\?historyLength=0$/.test(call)),
    ).toBe(true);
    expect(world.calls).toHaveLength(bob.lookups);
    // A context that its owner uses costs the same look-ups as one that does not exist, so neither time nor limits reveal it.
    await way(ada, { contextId, taskId: 'task-1' });
    const before = bob.lookups;
    for (const taskId of ['task-1', 'task-2']) {
      expect(await errorOf(way(bob, { contextId, taskId }))).toEqual(foreign);
    }
    expect(bob.lookups).toBe(2 * before);
  });
});

describe('a message', () => {
  it.each([{}, { contextId: null }, { contextId: '' }, { taskId: null, referenceTaskIds: null }])(
    'without a conversation (%j) gets a new one, in which its visitor continues',
    async (names) => {
      const world = new VisitedWorld();
      const ada = world.visitor('ada');
      await ada.send(names);
      const [, contextId = ''] = /"contextId":"([^"]+)"/.exec(world.calls[0] ?? '') ?? [];
      expect(contextId).toMatch(MINTED);
      await ada.send({ contextId });
      expect(world.calls[1]).toContain(contextId);
      expect(await errorOf(world.visitor('bob').send({ contextId }))).toMatchObject(UNKNOWN);
    },
  );

  it('for a task gets the context of the task, and keeps one that it names itself', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const contextId = ada.begun();
    await ada.send({ taskId: 'task-1' });
    expect(world.calls).toEqual([
      LOOKUP,
      `SendMessage {"message":{"contextId":"${contextId}","role":"ROLE_USER","taskId":"task-1"}}`,
    ]);
    await ada.send({ taskId: 'task-1', contextId });
    expect(world.calls.at(-1)).toBe(
      `SendMessage {"message":{"role":"ROLE_USER","taskId":"task-1","contextId":"${contextId}"}}`,
    );
  });

  it('is refused if its task belongs to another conversation of the same visitor', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    ada.begun();
    const other = ada.begun('task-2');
    expect(await errorOf(ada.send({ taskId: 'task-1', contextId: other }))).toMatchObject(UNKNOWN);
    expect(world.calls).toEqual([LOOKUP]);
  });

  it('refers to at most eight tasks, each checked', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const ids = Array.from({ length: 8 }, (_, at) => `task-${String(at)}`);
    for (const id of ids) ada.begun(id);
    await ada.send({ referenceTaskIds: ids });
    expect([ada.lookups, world.calls.at(-1)]).toEqual([8, expect.stringMatching(/^SendMessage .*"contextId"/)]);
    world.visitor('bob').begun('task-9');
    expect(await errorOf(ada.send({ referenceTaskIds: ['task-1', 'task-9'] }))).toMatchObject(UNKNOWN);
    for (const referenceTaskIds of [[...ids, 'task-1'], 'task-1', { length: 0 }]) {
      expect(await errorOf(ada.send({ referenceTaskIds }))).toMatchObject({
        code: 'body_invalid',
        detail: '"referenceTaskIds" is not a list of at most 8 tasks.',
      });
    }
    expect(ada.lookups).toBe(9);
  });

  it.each(['contextId', 'taskId'])('is refused if its "%s" is not a string', async (name) => {
    const world = new VisitedWorld();
    for (const value of [7, ['task-1'], {}, true]) {
      expect(await errorOf(world.visitor('ada').send({ [name]: value }))).toMatchObject({
        code: 'body_invalid',
        detail: `"${name}" is not a string.`,
        hint: 'Send only members of the A2A specification, each with a valid value.',
        rpcCode: -32602,
      });
    }
    expect(world.calls).toEqual([]);
  });

  it('with a context for another tenant or account is refused', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    const params = (contextId: string) => ({ tenant: 'acme', message: { contextId } });
    await ada.call('SendMessage', params(ada.begun('task-1', { tenant: 'acme' })));
    for (const scope of [{ tenant: '' }, { tenant: 'acme', account: '' }, { tenant: 'acme', agent: '' }]) {
      expect(await errorOf(ada.call('SendMessage', params(ada.begun('task-2', scope))))).toMatchObject(UNKNOWN);
    }
  });
});

describe('the site grants a conversation', () => {
  it('that was not minted here, after it was asked once for each call', async () => {
    const world = new VisitedWorld();
    const asked: string[] = [];
    const owns = (contextId: string) => {
      asked.push(contextId);
      return Promise.resolve(contextId === 'from-the-agent');
    };
    const ada = world.visitor('ada', { owns });
    world.tasks.set('task-1', 'from-the-agent');
    await ada.send({ contextId: 'from-the-agent' });
    await ada.call('GetTask', { id: 'task-1' });
    expect(asked).toEqual(['from-the-agent', 'from-the-agent']);
    expect(await errorOf(ada.send({ contextId: 'another' }))).toMatchObject(UNKNOWN);
    expect(await errorOf(world.visitor('bob').send({ contextId: 'from-the-agent' }))).toMatchObject(UNKNOWN);
    await ada.send({ contextId: ada.begun() });
    expect(asked).toEqual(['from-the-agent', 'from-the-agent', 'another']);
  });
});

it('warns the operator once that a conversation was refused', async () => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada');
  await ada.send({ contextId: ada.begun() });
  expect(world.rpc.telemetry.of('warning')).toEqual([]);
  for (const contextId of ['one', 'two']) await errorOf(ada.send({ contextId }));
  expect(world.rpc.telemetry.of('warning')).toEqual([
    { type: 'warning', code: 'conversation_unknown', detail: expect.stringContaining('docs/conversations.md') },
  ]);
});

describe('a task', () => {
  it.each(['', 'task 1', 'täsk', 'a/b', '..', '%2e%2e', 'x'.repeat(257), 7, null, ['task-1'], { toString: 'x' }])(
    'named %j is unknown without a look-up',
    async (id) => {
      const world = new VisitedWorld();
      const ada = world.visitor('ada');
      expect(await errorOf(ada.call('GetTask', { id }))).toMatchObject(UNKNOWN);
      expect(await errorOf(ada.send({ referenceTaskIds: [id] }))).toMatchObject(UNKNOWN);
      expect([ada.lookups, world.calls]).toEqual([0, []]);
    },
  );

  it.each(['task-1:subscribe', 'task-1:Cancel', 'task-1%3Asubscribe'])(
    'named %s is unknown without a look-up, which could be another call on task-1',
    async (taskId) => {
      const world = new VisitedWorld();
      world.visitor('bob').begun('task-1');
      const ada = world.visitor('ada');
      const message = { role: 'ROLE_USER' };
      for (const names of [{ taskId }, { referenceTaskIds: [taskId] }]) {
        const sent = ada.rest('POST', '/message:send', { message: { ...message, ...names } });
        expect(await errorOf(sent)).toMatchObject(UNKNOWN);
        expect(await errorOf(ada.send(names))).toMatchObject(UNKNOWN);
      }
      expect(world.calls).toEqual([]);
    },
  );

  it('is refused if path and body name different ones', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    for (const id of ['task-1', 'task-2']) ada.begun(id);
    expect(await errorOf(ada.rest('POST', '/tasks/task-1:cancel', { id: 'task-2' }))).toMatchObject({
      code: 'body_invalid',
      detail: 'Path and body name different tasks.',
    });
    await ada.rest('POST', '/tasks/task-1:cancel', {});
    expect(world.calls).toEqual(['GET /rest/tasks/task-1?historyLength=0', 'POST /rest/tasks/task-1:cancel{}']);
  });

  it('is looked up again for another tenant', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    ada.begun();
    await ada.call('GetTask', { id: 'task-1' });
    expect(await errorOf(ada.call('GetTask', { id: 'task-1', tenant: 'acme' }))).toMatchObject(UNKNOWN);
    expect(world.calls[2]).toBe('GetTask {"id":"task-1","historyLength":0,"tenant":"acme"}');
  });

  it('that is unknown is looked up each time', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada');
    for (let turn = 0; turn < 2; turn += 1) await errorOf(ada.call('GetTask', { id: 'task-1' }));
    expect([ada.lookups, world.calls]).toEqual([2, [LOOKUP, LOOKUP]]);
  });

  it('is looked up again after 10,000 others, and each time if its context has more than 256 characters', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada', { owns: () => Promise.resolve(true) });
    const reads = async (id: string) => {
      const before = ada.lookups;
      await ada.call('GetTask', { id });
      return ada.lookups - before;
    };
    for (const [id, characters] of [
      ['short', 256],
      ['long', 257],
    ] as const)
      world.tasks.set(id, 'x'.repeat(characters));
    expect([await reads('long'), await reads('long'), await reads('short'), await reads('short')]).toEqual([
      1, 1, 1, 0,
    ]);
    for (let at = 0; at < 10_000; at += 1) {
      world.tasks.set(String(at), 'x');
      await reads(String(at));
      if (at === 9_998) expect(await reads('0')).toBe(0);
    }
    expect(await reads('short')).toBe(1);
  });

  it('is not read if the visitor has used up the look-ups', async () => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada', { countLookup: () => Promise.reject(new Error('too many')) });
    ada.begun();
    await expect(ada.call('GetTask', { id: 'task-1' })).rejects.toThrow('too many');
    expect(world.calls).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['another id', { id: 'task-2', contextId: 'x' }],
    ['no context', { id: 'task-1' }],
    ['a context that is not a string', { id: 'task-1', contextId: 7 }],
  ])('is unknown if the agent responds with %s', async (_what, task) => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada', { owns: () => Promise.resolve(true) });
    world.lookup = () => json(200, { jsonrpc: '2.0', result: task });
    expect(await errorOf(ada.call('GetTask', { id: 'task-1' }))).toMatchObject(UNKNOWN);
    world.lookup = () => json(200, task);
    expect(await errorOf(ada.rest('GET', '/tasks/task-1'))).toMatchObject(UNKNOWN);
  });
});
