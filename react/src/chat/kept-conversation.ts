import type { Answer, AnswerPiece } from './answer.js';
import type { ChatSession } from './chat-session.js';
import { parsedJson } from './json.js';
import type { StoredMessage } from './message-parts.js';
import type { Conversation, OutgoingMessage } from './turn.js';

/**
 * Continues the conversation stored by this tab, and stores it when the page or the chat closes. It is in
 * `sessionStorage`, which other tabs cannot read and which ends with the tab. The chat also works if the browser stores
 * nothing.
 */
export function keepConversation(session: ChatSession, name: string): () => void {
  const kept = read(name);
  if (kept !== undefined && session.getState().messages.length === 0) session.restore(kept);

  let stored = session.getState().messages;
  const keep = (): void => {
    const { messages } = session.getState();
    // An unused chat does not overwrite what another one on the page has stored.
    if (messages !== stored) write(name, session.getConversation());
    stored = messages;
  };
  // Otherwise the conversation of a user who has left would stay in the tab until the page closes.
  const forget = session.subscribe(() => {
    if (session.getState().messages.length === 0) keep();
  });
  // A phone ends a hidden page without another event.
  const events = ['pagehide', 'visibilitychange'];
  for (const name of events) addEventListener(name, keep);
  return () => {
    forget();
    keep();
    for (const name of events) removeEventListener(name, keep);
    if (session.getState().phase === 'idle') return;
    // The connection stays open until the agent has named its task: only then can another chat continue to read the answer.
    const kept = textIn(name);
    const unsubscribe = session.subscribe(() => {
      if (session.getState().phase !== 'idle') return;
      unsubscribe();
      if (textIn(name) === kept) keep();
    });
  };
}

function read(name: string): Conversation | undefined {
  const kept = parsedJson(textIn(name) ?? '');
  return isConversation(kept) ? kept : undefined;
}

function textIn(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // forbidden
  }
}

/** Stores as much as there is space for: first without the bytes of files, then without the oldest messages. */
function write(name: string, conversation: Conversation): void {
  const { messages } = conversation;
  let [count, hasFiles] = [messages.length, true];
  while (count > 0) {
    const bytes = hasFiles ? undefined : (key: string, value: unknown) => (key === 'bytes' ? undefined : value);
    const text = JSON.stringify({ ...conversation, messages: messages.slice(-count) }, bytes);
    try {
      return sessionStorage.setItem(name, text);
    } catch {
      count = hasFiles ? count : Math.floor(count / 2);
      hasFiles = false;
    }
  }
  try {
    // An older state would be restored as if the newest messages had never been there.
    sessionStorage.removeItem(name);
  } catch {
    // forbidden
  }
}

/** True for data of this version of the chat; another version, or the page, may have stored something else. */
export function isConversation(value: unknown): value is Conversation {
  if (!isObject(value) || !isText(value['contextId'])) return false;
  const { messages, openTask, unfinished, sent } = value;
  return (
    isListOf(messages, isMessage) &&
    (openTask === undefined || (isObject(openTask) && isText(openTask['id']) && isSeen(openTask['seen']))) &&
    (unfinished === undefined ||
      (isObject(unfinished) && isText(unfinished['answerId']) && isAnswer(unfinished['answer']))) &&
    (sent === undefined || isOutgoing(sent))
  );
}

function isMessage(value: unknown): value is StoredMessage {
  if (!isObject(value) || !isText(value['id']) || !isText(value['text'])) return false;
  const { role, state, parts, fileName } = value;
  if (parts !== undefined && !isListOf(parts, isPart)) return false;
  return role === 'user' ? fileName === undefined || isText(fileName) : role === 'agent' && STATES.has(state);
}

const STATES: ReadonlySet<unknown> = new Set('working complete input-required auth-required failed stopped'.split(' '));

function isPart(value: unknown): boolean {
  if (!isObject(value) || !isText(value['id'])) return false;
  const { type, text, name, mediaType, bytes = '', url = '' } = value;
  if (type === 'data') return isText(name);
  if (type === 'file') return [name, mediaType, bytes, url].every(isText);
  return isText(text) && TEXT_TYPES.has(type);
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set('text thought question error status'.split(' '));

function isAnswer(value: unknown): value is Answer {
  if (!isObject(value)) return false;
  const { messageId, taskId, contextId, state, artifacts, said, words, seen, opening } = value;
  return (
    [messageId, taskId, contextId].every(isText) &&
    STATES.has(state) &&
    [artifacts, said, words].every((pieces) => isListOf(pieces, isPiece)) &&
    isSeen(seen) &&
    (opening === null || (isObject(opening) && STATES.has(opening['state']) && isListOf(opening['words'], isPiece)))
  );
}

function isOutgoing(value: unknown): value is OutgoingMessage {
  if (!isObject(value)) return false;
  const { id, contextId, taskId, text, page = '', seen } = value;
  return [id, contextId, taskId, text, page].every(isText) && (seen === undefined || isSeen(seen));
}

function isPiece(value: unknown): value is AnswerPiece {
  return isObject(value) && isText(value['id']) && isListOf(value['parts'], isPart);
}

function isSeen(value: unknown): boolean {
  return (
    isObject(value) &&
    isListOf(value['messages'], isText) &&
    isObject(value['artifacts']) &&
    Object.values(value['artifacts']).every(isText)
  );
}

function isListOf(values: unknown, isOne: (value: unknown) => boolean): boolean {
  return Array.isArray(values) && values.every(isOne);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
