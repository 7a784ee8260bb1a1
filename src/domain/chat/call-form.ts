import { RequestError } from '../shared/errors.js';
import { decodeSegment } from '../upstream/safe-path.js';
import type { A2ACall } from './call.js';
import { CONFIGURATION_MEMBERS, type LevelName, MESSAGE_MEMBERS } from './member-names.js';
import { endsInCall } from './rest-paths.js';

// The form of a call where conversations belong to their visitors.

const SENDING: ReadonlySet<string> = new Set(['configuration', 'message', 'metadata', 'tenant']);
const NAMING_TASK: ReadonlySet<string> = new Set(['id', 'metadata', 'tenant']);
/** Every method that may be called, with its `params` in A2A v0.2 to v1.0. No other member crosses: agents read more. */
const PARAMS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['SendMessage', SENDING],
  ['SendStreamingMessage', SENDING],
  ['GetTask', new Set([...NAMING_TASK, 'historyLength'])],
  ['CancelTask', NAMING_TASK],
  ['SubscribeToTask', NAMING_TASK],
  ['GetExtendedAgentCard', new Set(['tenant'])],
]);
const ENVELOPE: ReadonlySet<string> = new Set(['id', 'jsonrpc', 'method', 'params']);
const MESSAGE: ReadonlySet<string> = new Set(MESSAGE_MEMBERS);
const CONFIGURATION: ReadonlySet<string> = new Set(CONFIGURATION_MEMBERS);
const QUERY = {
  JSONRPC: /^\?A2A-Version=[\w.]*$/i,
  'HTTP+JSON': /^\?(?:(?:A2A-Version|historyLength)=[\w.]*(?:&(?!$)|$))+$/i,
};

/** Rejects a call with anything that the specification does not define. */
export function checkForm(call: A2ACall): void {
  const { binding, method, query, tenants, body } = call;
  const known = PARAMS.get(method);
  if (known === undefined) {
    const detail = 'This method is not available where conversations belong to their visitors.';
    throw new RequestError('method_denied', { detail, hint: 'Use a method of the chat.', rpcCode: -32601 });
  }
  if (query !== '' && !QUERY[binding].test(query))
    throw invalid('The query names something other than "A2A-Version" and "historyLength".');
  if (tenants.some((one) => one !== tenants[0])) throw invalid('The request names two tenants.');
  checkNames(body?.names.envelope, ENVELOPE);
  checkNames(body?.names.params, known);
  checkNames(body?.names.message, MESSAGE);
  checkNames(body?.names.configuration, CONFIGURATION);
  if (known === SENDING && !body?.names.message?.length) throw invalid('The request has no "message".');
}

function checkNames(names: readonly string[] = [], defined: ReadonlySet<string>): void {
  for (const name of names) {
    if (!defined.has(name)) throw invalid(`The member "${name.slice(0, 64)}" is not defined here.`);
  }
}

function hasMember({ body }: A2ACall, level: LevelName, name: string): boolean {
  return body?.names[level]?.includes(name) === true;
}

/** An id in the message; empty if it has none. */
export function nameIn(call: A2ACall, name: 'contextId' | 'taskId'): string {
  if (!hasMember(call, 'message', name)) return '';
  const id = call.body?.[name];
  if (id === undefined) throw invalid(`"${name}" is not a string.`);
  return id;
}

/** The task that path or params name; both must agree. */
export function namedTask(call: A2ACall): string {
  const { rest, taskId, body } = call;
  const inPath = rest?.path.taskId;
  if (inPath !== undefined && hasMember(call, 'params', 'id') && body?.taskId !== inPath) {
    throw invalid('Path and body name different tasks.');
  }
  return taskName(taskId);
}

/** An id that every parser reads alike, in a body and in a path. */
export function taskName(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[!-~]+$/.test(value) && !endsInCall(value);
  if (isPlain && decodeSegment(encodeURIComponent(value)) === value) return value;
  throw unknownConversation();
}

/**
 * The same error for another visitor's conversation and for one that never existed, so that a guess reveals nothing.
 */
export function unknownConversation(): RequestError {
  return new RequestError('conversation_unknown', {
    detail: 'There is no such conversation, or it is not yours.',
    hint: 'Start a new conversation.',
    rpcCode: -32001,
  });
}

export function invalid(detail: string): RequestError {
  const hint = 'Send only members of the A2A specification, each with a valid value.';
  return new RequestError('body_invalid', { detail, hint, rpcCode: -32602 });
}
