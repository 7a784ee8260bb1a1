import type { Call, Dialect } from './conversation-people.js';

export const INTRUDER = 'who is there?';

/** All that an intruder knows. */
export interface Known {
  readonly dialect: Dialect;
  readonly victim: { readonly taskId: string; readonly contextId: string };
  readonly waiting: string;
  readonly own: { readonly taskId: string; readonly contextId: string };
}

export type Way = (known: Known) => Call;

export const rpc = (method: (dialect: Dialect) => string, params: (known: Known) => unknown): Way => {
  return (known) => ({ body: { jsonrpc: '2.0', id: 1, method: method(known.dialect), params: params(known) } });
};
/** Reads a task with these params. */
export const reading = (params: (known: Known) => unknown): Way => rpc(({ get }) => get, params);
export const get = (path: (known: Known) => string): Way => {
  return (known) => ({ method: 'GET', path: path(known) });
};
export const post = (path: string, body: (known: Known) => object): Way => {
  return (known) => ({ path, body: body(known) });
};
export const sending = (more: (known: Known) => object): Way =>
  rpc(
    ({ send }) => send,
    (known) => ({ message: known.dialect.message(INTRUDER, more(known)) }),
  );
/** A message with more members beside it in its `params`. */
export const around = (more: (known: Known) => object): Way =>
  rpc(
    ({ send }) => send,
    (known) => ({ message: known.dialect.message(INTRUDER), ...more(known) }),
  );
/** A message whose text is edited, for spellings that an object cannot have. */
export const edited = (edit: (text: string, known: Known) => string): Way => {
  return (known) => {
    const { dialect } = known;
    const params = { message: dialect.message(INTRUDER, { contextId: known.own.contextId }) };
    return { body: edit(JSON.stringify({ jsonrpc: '2.0', id: 1, method: dialect.send, params }), known) };
  };
};
export const beside = (name: string, value: (known: Known) => string): Way =>
  edited((text, known) => text.replace('"contextId":', `"${name}":${JSON.stringify(value(known))},"contextId":`));
export const flipped = (id: string): string => (id.endsWith('0') ? `${id.slice(0, -1)}1` : `${id.slice(0, -1)}0`);
export const context = ({ victim }: Known): string => victim.contextId;
export const task = ({ victim }: Known): string => victim.taskId;

/** The ways into a conversation over JSON-RPC. */
export const WAYS: Readonly<Record<string, Way>> = {
  "a message with the other visitor's context": sending((known) => ({ contextId: context(known) })),
  'a streamed message with it': rpc(
    ({ stream }) => stream,
    (known) => ({ message: known.dialect.message(INTRUDER, { contextId: context(known) }) }),
  ),
  'the context in upper case': sending((known) => ({ contextId: context(known).toUpperCase() })),
  'the context with a blank': sending((known) => ({ contextId: `${context(known)} ` })),
  'the context without dashes': sending((known) => ({ contextId: context(known).replaceAll('-', '') })),
  'the context in braces': sending((known) => ({ contextId: `{${context(known)}}` })),
  'a context that differs in the last bit': sending((known) => ({ contextId: flipped(context(known)) })),
  'a context that both chose': sending(() => ({ contextId: 'support' })),
  'a guessed UUID': sending(() => ({ contextId: crypto.randomUUID() })),
  'a context in a list': sending((known) => ({ contextId: [context(known)] })),
  'a context in an object': sending((known) => ({ contextId: { value: context(known) } })),
  'an open task of the other visitor': sending((known) => ({ taskId: task(known) })),
  'a foreign task with a context of its own': sending((known) => ({
    taskId: task(known),
    contextId: known.own.contextId,
  })),
  'a foreign task with its context': sending((known) => ({ taskId: task(known), contextId: context(known) })),
  'an own task with a foreign context': sending((known) => ({ taskId: known.own.taskId, contextId: context(known) })),
  'a task as a number': sending(() => ({ taskId: 7 })),
  'an invented task': sending(() => ({ taskId: crypto.randomUUID() })),
  'a task with a blank': sending((known) => ({ taskId: `${task(known)} ` })),
  'a referenced task': sending((known) => ({ referenceTaskIds: [task(known)] })),
  'a referenced task after an own one': sending((known) => ({ referenceTaskIds: [known.own.taskId, task(known)] })),
  'a referenced task as text': sending((known) => ({ referenceTaskIds: task(known) })),
  'nine references': sending((known) => ({ referenceTaskIds: Array.from({ length: 9 }, () => known.own.taskId) })),
  'context_id beside the own context': beside('context_id', context),
  'ContextId beside it': beside('ContextId', context),
  task_id: beside('task_id', task),
  reference_task_ids: beside('reference_task_ids', task),
  'sessionId in the message': beside('sessionId', context),
  '__proto__ in the message': edited((text, known) =>
    text.replace('"contextId":', `"__proto__":{"contextId":"${context(known)}"},"contextId":`),
  ),
  'params.id of a message': around((known) => ({ id: task(known) })),
  'params.taskId of a message': around((known) => ({ taskId: task(known) })),
  'params.contextId of a message': around((known) => ({ contextId: context(known) })),
  'params.sessionId of a message': around((known) => ({ sessionId: context(known) })),
  'params.context with a user': around(() => ({ context: { userId: 'alice' } })),
  'params.tenant': around(() => ({ tenant: 'globex' })),
  'params.request': edited((text) => text.replace('"message":', '"request":')),
  'a webhook': around(() => ({ configuration: { pushNotificationConfig: { url: 'https://hook.example' } } })),
  'a batch': (known) => ({ body: [{ jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: task(known) } }] }),
  'reading the task': reading((known) => ({ id: task(known) })),
  'reading it by name': reading((known) => ({ name: `tasks/${task(known)}`, id: known.own.taskId })),
  'reading it by taskId beside an own id': reading((known) => ({ id: known.own.taskId, taskId: task(known) })),
  'reading a task that never existed': reading(() => ({ id: crypto.randomUUID() })),
  'reading with the own context beside': reading((known) => ({ id: task(known), contextId: known.own.contextId })),
  'reading it by a query': (known) => ({
    path: `?id=${task(known)}`,
    body: { jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: known.own.taskId } },
  }),
  'cancelling the task': rpc(
    ({ cancel }) => cancel,
    ({ waiting }) => ({ id: waiting }),
  ),
  'subscribing to the task': rpc(
    ({ subscribe }) => subscribe,
    ({ waiting }) => ({ id: waiting }),
  ),
  'listing tasks': rpc(
    () => 'ListTasks',
    (known) => ({ contextId: context(known) }),
  ),
  'listing tasks in the old spelling': rpc(
    () => 'tasks/list',
    () => ({}),
  ),
  'a webhook for the task': rpc(
    () => 'tasks/pushNotificationConfig/set',
    (known) => ({
      taskId: task(known),
      pushNotificationConfig: { url: 'https://hook.example' },
    }),
  ),
  'an unknown method': rpc(
    () => 'tasks/export',
    (known) => ({ id: task(known) }),
  ),
  'two cookies of one name': (known) => ({
    headers: { cookie: `agent-bff-visitor=${'A'.repeat(22)}.1; agent-bff-visitor=${'B'.repeat(22)}.1` },
    body: { jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: task(known) } },
  }),
  'a cookie that was not issued here': (known) => ({
    headers: { cookie: 'agent-bff-visitor=alice' },
    body: { jsonrpc: '2.0', id: 1, method: known.dialect.get, params: { id: task(known) } },
  }),
};

/** Names of the other visitor's work that every parser reads as an earlier value of a member, which does not cross. */
export const OUTVOTED_WAYS: Readonly<Record<string, Way>> = {
  'contextId twice, the foreign one first': beside('contextId', context),
  'contextId by an escape': beside(String.raw`context\u0049d`, context),
  'two messages': edited((text, known) =>
    text.replace(
      '"message":',
      `"message":${JSON.stringify(known.dialect.message(INTRUDER, { contextId: context(known) }))},"message":`,
    ),
  ),
  'two params': edited((text, known) => text.replace('"params":', `"params":{"id":"${task(known)}"},"params":`)),
};

/** The ways in over HTTP+JSON. */
export const REST_WAYS: Readonly<Record<string, Way>> = {
  'reading the task': get((known) => `/tasks/${task(known)}`),
  'reading an own task with the foreign id in the query': get(
    (known) => `/tasks/${known.own.taskId}?id=${task(known)}`,
  ),
  'another tenant': get((known) => `/globex/tasks/${task(known)}`),
  'a tenant in the query': get((known) => `/tasks/${task(known)}?tenant=globex`),
  'cancelling the task': ({ waiting }) => ({ path: `/tasks/${waiting}:cancel`, body: {} }),
  'cancelling an own task with the foreign id in the body': (known) => ({
    path: `/tasks/${known.own.taskId}:cancel`,
    body: { id: known.waiting },
  }),
  'subscribing to the task': get(({ waiting }) => `/tasks/${waiting}:subscribe`),
  'listing tasks': get(() => '/tasks'),
  'listing tasks of the context': get((known) => `/tasks?contextId=${context(known)}`),
  'a message with the context': post('/message:send', (known) => ({
    message: known.dialect.message(INTRUDER, { contextId: context(known) }),
  })),
  'a message with the task': post('/message:send', (known) => ({
    message: known.dialect.message(INTRUDER, { taskId: task(known) }),
  })),
  'a streamed message with a reference': post('/message:stream', (known) => ({
    message: known.dialect.message(INTRUDER, { referenceTaskIds: [task(known)] }),
  })),
  'a message with the context in the query': (known) => ({
    path: `/message:send?message.contextId=${context(known)}`,
    body: { message: known.dialect.message(INTRUDER) },
  }),
};
