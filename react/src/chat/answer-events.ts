import type { Answer, AnswerPiece, AnswerWords, SeenBefore } from './answer.js';
import type { AgentMessageState } from './chat-state.js';
import {
  BETWEEN_WORDS,
  contentOf,
  isOneText,
  isText,
  joinedPieces,
  mergedSnapshot,
  repetitionOf,
  withAppended,
  withIds,
  withoutPrefix,
} from './answer-pieces.js';
import { parsedJson } from './json.js';
import type { MessagePart } from './message-parts.js';
import type { WireEvent, WireMessage, WireState, WireTask } from './wire.js';

const ANSWER_STATES: Readonly<Record<WireState, AgentMessageState>> = {
  working: 'working',
  completed: 'complete',
  canceled: 'stopped',
  failed: 'failed',
  rejected: 'failed',
  'input-required': 'input-required',
  'auth-required': 'auth-required',
};

/** The answer with one more event. `isFirst` is true for the first event of a stream. */
export function takeEvent(answer: Answer, event: WireEvent, isFirst = false): Answer {
  switch (event.kind) {
    case 'message': {
      const { message } = event;
      const contextId = message.contextId || answer.contextId;
      return takeState({ ...answer, contextId, opening: null }, 'complete', message);
    }
    case 'task':
      return takeTask(answer, event, isFirst);
    case 'artifact': {
      const { artifact, isAppended } = event;
      const { id } = artifact;
      const before = answer.artifacts.find((known) => known.id === id);
      const whole = joinedPieces(withIds(id, artifact.parts));
      const rest = withoutPrefix(whole, answer.seen.artifacts[id]);
      const parts =
        isAppended && before ? withAppended(id, before.parts, artifact.parts) : rest.length > 0 ? rest : whole;
      // A last chunk without content only marks the end of the artifact.
      if (before !== undefined && parts.length === 0) return named(answer, event);
      return { ...named(answer, event), artifacts: replaced(answer.artifacts, { id, parts }) };
    }
    case 'status': {
      return takeState(named(answer, event), ANSWER_STATES[event.state], event.message);
    }
  }
}

/** True if the turn ends with this event, even if its stream continues. */
export function endsTurn(event: WireEvent): boolean {
  return event.kind === 'status' && event.isFinal === true;
}

/** A snapshot, which includes everything sent while no connection was open. */
function takeTask(answer: Answer, task: WireTask, isFirst: boolean): Answer {
  const state = ANSWER_STATES[task.state];
  const isReply = answer.isTaskNamed && task.taskId === answer.taskId;
  const own = { ...answer, taskId: task.taskId, isTaskNamed: true, contextId: task.contextId || answer.contextId };
  const artifacts = new Map(answer.artifacts.map((piece) => [piece.id, piece]));
  for (const { id, parts } of task.artifacts) {
    const piece = { id, parts: withoutPrefix(joinedPieces(withIds(id, parts)), answer.seen.artifacts[id]) };
    const before = artifacts.get(id);
    if (piece.parts.length > 0) artifacts.set(id, before === undefined ? piece : mergedSnapshot(before, piece));
  }
  const taken = { ...own, artifacts: [...artifacts.values()] };
  const isUntouched = isReply && isEmpty(taken);
  const isKnown = task.message === undefined || isSeen(answer.seen, task.message);
  if (isUntouched && isInterrupted(state) && (isFirst || isKnown))
    return { ...taken, opening: { state, words: withWords([], task.message, 'word') } };
  const message = state === 'working' && isUntouched && isKnown ? undefined : task.message;
  return takeState({ ...taken, said: heardIn(taken, ofThisTurn(answer, task)), opening: null }, state, message);
}

/**
 * The answer at the end of its stream. If the task is still in the state from before the turn, that state is the
 * result.
 */
export function settled(answer: Answer): Answer {
  return answer.opening === null ? answer : { ...answer, ...answer.opening, opening: null };
}

/** True for a question at the start of a stream that no earlier turn has shown. */
export function isNewQuestion({ opening, seen }: Answer): boolean {
  if (opening === null || seen.messages.length === 0) return false;
  return opening.words.some(
    ({ id, parts }) => !seen.messages.includes(/^(?:said|word)-\d+$/.test(id) ? contentOf(parts) : id),
  );
}

/** Content that the next turn of the same task must not repeat. */
export function seenAfter({ seen, artifacts, said, words }: Answer): SeenBefore {
  return {
    artifacts: {
      ...seen.artifacts,
      ...Object.fromEntries(artifacts.map(({ id, parts }) => [id, (seen.artifacts[id] ?? '') + contentOf(parts)])),
    },
    messages: [
      ...new Set([...seen.messages, ...[...said, ...words].flatMap(({ id, parts }) => [id, contentOf(parts)])]),
    ],
  };
}

/** The parts of the answer in the order they are shown: progress, artifacts, final message. */
export function partsOfAnswer({ state, said, artifacts, words }: Answer): readonly MessagePart[] {
  const shown = [...artifacts.flatMap(({ parts }) => parts), ...lastWords(joinedWords(words), state)];
  const hasAnswer = shown.some(({ type }) => type !== 'thought' && type !== 'status');
  const isRepeated = repetitionOf(shown);
  // Beside other content, messages are progress unless they are clearly pieces of one text.
  const progress = joinedWords(said, hasAnswer ? BETWEEN_WORDS : undefined).filter(({ parts }) => !isRepeated(parts));
  // Without other content, the agent's final message is the answer.
  const isOver = state !== 'working' && !hasAnswer;
  const last = isOver ? lastIndex(progress, ({ parts }) => parts.some(isReadable)) : -1;
  const before = progress.flatMap(({ parts, isWritten }, index) =>
    parts.map((part) => (index === last || isWritten === true ? part : asProgress(part))),
  );
  return withUniqueIds([...before, ...shown]);
}

/** An agent may give an artifact and a message one id. */
function withUniqueIds(parts: readonly MessagePart[]): readonly MessagePart[] {
  const ids = new Set<string>();
  return parts.map((part) => {
    let { id } = part;
    while (ids.has(id)) id = `+${id}`;
    ids.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

/** `findLastIndex`, which old browsers lack. */
function lastIndex<Value>(values: readonly Value[], isIt: (value: Value) => boolean): number {
  return values.reduce((last, value, index) => (isIt(value) ? index : last), -1);
}

/** A message whose text is only data is meant for the agent's framework. */
function asProgress(part: MessagePart): MessagePart {
  if (part.type !== 'text') return part;
  return { ...part, type: isData(part.text) ? 'thought' : 'status' };
}

function isReadable(part: MessagePart): boolean {
  return part.type === 'text' && part.text.trim() !== '' && !isData(part.text);
}

/** True for a JSON object or list. A text may begin like one. */
function isData(text: string): boolean {
  return /^\s*[[{]/.test(text) && parsedJson(text) !== undefined;
}

function lastWords(words: readonly AnswerWords[], state: AgentMessageState): readonly MessagePart[] {
  const type = WORD_TYPES[state];
  return words.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? { ...part, type } : part)));
}

const WORD_TYPES = {
  working: 'text',
  complete: 'text',
  stopped: 'status',
  failed: 'error',
  'input-required': 'question',
  'auth-required': 'question',
} as const;

function takeState(answer: Answer, state: AgentMessageState, message: WireMessage | undefined): Answer {
  if (state === 'working') {
    // The question was answered elsewhere, and the task continues.
    const said = isInterrupted(answer.state) ? [...answer.said, ...answer.words] : answer.said;
    const words = isInterrupted(answer.state) ? [] : answer.words;
    return { ...answer, state, words, said: withWords(said, message, 'said') };
  }
  if (message === undefined || message.parts.length === 0) return { ...answer, state };
  // The final message may have been sent as progress before; it is shown once.
  const said = message.id === '' ? answer.said : answer.said.filter(({ id }) => id !== message.id);
  const words = withWords(answer.words, message, 'word');
  const [last] = words.slice(-1);
  const isRepeated = repetitionOf(answer.artifacts.flatMap(({ parts }) => parts));
  return { ...answer, state, said, words: last !== undefined && isRepeated(last.parts) ? words.slice(0, -1) : words };
}

/** The messages with one more. A message with a known id replaces or extends the earlier one. */
function withWords(
  known: readonly AnswerWords[],
  message: WireMessage | undefined,
  unnamed: 'said' | 'word',
): readonly AnswerWords[] {
  if (message === undefined || message.parts.length === 0) return known;
  const id = message.id || `${unnamed}-${known.length + 1}`;
  const parts = joinedPieces(withIds(id, message.parts));
  const content = contentOf(parts);
  const index = indexOf(known);
  const before = index.has(`id ${id}`) ? known.find((other) => other.id === id) : undefined;
  if (before === undefined) {
    if (message.id === '' && index.has(`content ${content}`)) return known;
    const all = [...known, { id, parts }];
    indexes.delete(known);
    indexes.set(all, index.add(`id ${id}`).add(`content ${content}`));
    return all;
  }
  if (content === contentOf(before.parts)) return known;
  const isWhole = content.startsWith(contentOf(before.parts));
  return replaced(known, {
    id,
    parts: isWhole ? parts : withAppended(id, before.parts, message.parts),
    isWritten: true,
  });
}

/** The ids and contents of a list. A list with one more message takes over the index, so thousands take linear time. */
const indexes = new WeakMap<readonly AnswerWords[], Set<string>>();

function indexOf(known: readonly AnswerWords[]): Set<string> {
  return indexes.get(known) ?? new Set(known.flatMap(({ id, parts }) => [`id ${id}`, `content ${contentOf(parts)}`]));
}

/** Joins pieces of one text that arrived as separate messages. */
function joinedWords(said: readonly AnswerWords[], within?: RegExp): readonly AnswerWords[] {
  const [first] = said;
  const parts = said.flatMap((words) => words.parts);
  const texts = parts.filter(isText);
  if (first === undefined || said.length < 2 || texts.length < parts.length) return said;
  if (texts.some(({ type, text }) => type !== 'text' || isData(text)) || !isOneText(texts, within)) return said;
  return [{ id: first.id, parts: joinedPieces(texts), isWritten: true }];
}

/** Messages of the agent that came after the visitor's own. */
function ofThisTurn({ messageId, seen }: Answer, { history, message }: WireTask): readonly WireMessage[] {
  const own = history.findIndex(({ id }) => id === messageId);
  const start = own >= 0 ? own : lastIndex(history, ({ isAgent }) => !isAgent);
  const before = new Set(seen.messages);
  return history
    .slice(start + 1)
    .filter((said) => said.isAgent && !before.has(said.id || keyOf(said)) && !isSame(said, message));
}

function isSame(said: WireMessage, message: WireMessage | undefined): boolean {
  if (message === undefined) return false;
  return said.id !== '' && message.id !== '' ? said.id === message.id : keyOf(said) === keyOf(message);
}

/** The messages so far, with the new ones of a history. */
function heardIn({ said, words, artifacts }: Answer, history: readonly WireMessage[]): readonly AnswerWords[] {
  const heard = [...said];
  const known = new Set([...said, ...words, ...artifacts].flatMap(({ id, parts }) => [id, contentOf(parts)]));
  for (const message of history) {
    const content = keyOf(message);
    if (message.parts.length === 0 || known.has(content) || (message.id !== '' && known.has(message.id))) continue;
    const id = message.id || `said-${heard.length + 1}`;
    heard.push({ id, parts: joinedPieces(withIds(id, message.parts)) });
    known.add(id).add(content);
  }
  return heard.length === said.length ? said : heard;
}

function isSeen({ messages }: SeenBefore, message: WireMessage): boolean {
  return messages.includes(message.id === '' ? keyOf(message) : message.id);
}

function keyOf(message: WireMessage): string {
  return contentOf(withIds('', message.parts));
}

function isEmpty({ artifacts, said, words }: Answer): boolean {
  return artifacts.length + said.length + words.length === 0;
}

function isInterrupted(state: AgentMessageState): boolean {
  return state === 'input-required' || state === 'auth-required';
}

/** The answer with the ids of an event. The ids of a Task are final. */
function named(answer: Answer, { taskId, contextId }: { readonly taskId: string; readonly contextId: string }): Answer {
  return {
    ...answer,
    opening: null,
    taskId: answer.isTaskNamed ? answer.taskId : taskId || answer.taskId,
    contextId: contextId || answer.contextId,
  };
}

function replaced<Piece extends AnswerPiece>(pieces: readonly Piece[], piece: Piece): readonly Piece[] {
  return pieces.some(({ id }) => id === piece.id)
    ? pieces.map((other) => (other.id === piece.id ? piece : other))
    : [...pieces, piece];
}
