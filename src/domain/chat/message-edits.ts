import { RequestError } from '../shared/errors.js';
import { JsonCursor } from '../shared/json-cursor.js';
import {
  type ChatMessage,
  MAX_MEMBERS,
  MAX_NAME_BYTES,
  type MessagePlaces,
  normalizedName,
  type ObjectPlace,
  type PlacedMember,
  spelled,
} from './chat-message.js';

/** The JSON text of a request, and the facts read from it. */
export interface MessageBody {
  readonly bytes: Uint8Array;
  readonly message: ChatMessage;
}

/** A route's rules for `metadata`, in message and params. */
export interface MetadataRules {
  /** The folded names that the site sets, and that no visitor may use. */
  readonly names: ReadonlySet<string>;
  /** True if the visitor's member of this exact name crosses. */
  readonly passes: (name: string) => boolean;
}

/** Members by which some agents choose whose memory to open, in any spelling: Mastra and others, gemini-cli. */
const CHOOSING_MEMORY: ReadonlySet<string> = new Set(['resourceid', 'userid', 'coderagent']);

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** True if a visitor's metadata may never have a member of this name. */
export function choosesMemory(name: string): boolean {
  return CHOOSING_MEMORY.has(normalizedName(name));
}

/** Bytes of the longest member that is read: eight ids of 256 characters, each an escape. */
const MAX_READ = 16_384;
const TOO_LONG = Symbol('longer than ids are');

function memberIn(place: ObjectPlace | undefined, name: string): PlacedMember | undefined {
  // Without a closure: a message is searched several times.
  for (const member of place?.members ?? []) if (member.name === name) return member;
  return undefined;
}

/** The value of one member; `undefined` if there is none, and a symbol instead of one that is too long to be ids. */
export function memberOf(
  { body }: { readonly body: MessageBody | undefined },
  level: keyof MessagePlaces,
  name: string,
): unknown {
  const member = memberIn(body?.message.places?.[level], name);
  if (member !== undefined && member.end - member.start > MAX_READ) return TOO_LONG;
  return member && JSON.parse(decoder.decode(body?.bytes.subarray(member.start, member.end)));
}

/** The conversation and the task that a call names, if they are texts. */
export function namesIn(call: { readonly body: MessageBody | undefined }): {
  readonly contextId?: string;
  readonly taskId?: string;
} {
  const named = (level: keyof MessagePlaces, name: string): string | undefined => {
    const value = memberOf(call, level, name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const contextId = named('message', 'contextId');
  const taskId = named('message', 'taskId') ?? named('params', 'id');
  return { ...(contextId !== undefined && { contextId }), ...(taskId !== undefined && { taskId }) };
}

/**
 * The bytes of a message in this context, with the members of metadata that its rules admit, and the site's own as JSON
 * without braces, such as `"plan":"gold"`. All other bytes stay. `isStreamed` if they may be kept as long as a stream.
 */
export function editedMessage(
  { bytes, message }: MessageBody,
  contextId: string | undefined,
  rules: MetadataRules | undefined,
  own: string,
  isStreamed: boolean,
): Uint8Array {
  const { params, message: inner } = message.places ?? {};
  const edits: Edit[] = [];
  setMember(edits, inner, 'contextId', contextId && JSON.stringify(contextId));
  if (rules !== undefined) {
    setMember(edits, inner, 'metadata', metadataText(bytes, memberIn(inner, 'metadata'), rules, own));
    setMember(edits, params, 'metadata', metadataText(bytes, memberIn(params, 'metadata'), rules, own));
    // Agents that read a user in `context` define it themselves: no version of A2A has it.
    for (const { name, isExact, start, end } of params?.members ?? []) {
      const text = spelled(name);
      if (!isExact && (text.includes('\0') || normalizedName(text) === 'context'))
        edits.push({ start, end, text: '{}' });
    }
  }
  return edits.length === 0 ? bytes : withEdits(bytes, edits, isStreamed);
}

interface Span {
  readonly start: number;
  readonly end: number;
}
interface Edit extends Span {
  readonly text: string;
}

/** Replaces the value of a member, or adds the member first in its object; without a text, it stays as it is. */
function setMember(edits: Edit[], place: ObjectPlace | undefined, name: string, text: string | undefined): void {
  if (place === undefined || text === undefined) return;
  const { start, members } = place;
  const given = memberIn(place, name);
  if (given !== undefined) edits.push({ start: given.start, end: given.end, text });
  else edits.push({ start, end: start, text: `"${name}":${text}${members.length === 0 ? '' : ','}` });
}

/** The metadata of one place; `undefined` if there was none and none is needed. */
function metadataText(
  bytes: Uint8Array,
  span: Span | undefined,
  rules: MetadataRules,
  own: string,
): string | undefined {
  if (span === undefined) return own === '' ? undefined : `{${own}}`;
  const members = [...crossing(bytes.subarray(span.start, span.end), rules), ...(own === '' ? [] : [own])];
  return `{${members.join()}}`;
}

/** The visitor's own members that may cross, as they were written. */
function crossing(bytes: Uint8Array, { names, passes }: MetadataRules): readonly string[] {
  const cursor = new JsonCursor(bytes);
  const found: string[] = [];
  if (!cursor.enterObject()) return found;
  let count = 0;
  for (let at = cursor.nextName(true); at !== undefined; at = cursor.nextName(false)) {
    count += 1;
    if (count > MAX_MEMBERS || at.end - at.start > MAX_NAME_BYTES) throw tooLarge();
    cursor.skipValue();
    const name = spelled(decoder.decode(bytes.subarray(at.start, at.end)));
    // Some parsers read a name up to a NUL.
    const isOdd = name === '__proto__' || name.includes('\0');
    const isWithheld = isOdd || names.has(normalizedName(name)) || choosesMemory(name);
    if (!isWithheld && passes(name)) found.push(decoder.decode(bytes.subarray(at.start - 1, cursor.position)));
  }
  return found;
}

function tooLarge(): RequestError {
  return new RequestError('body_invalid', {
    detail: 'The metadata has too many members, or one with a name that is too long.',
    hint: `Send at most ${String(MAX_MEMBERS)} members.`,
    rpcCode: -32602,
  });
}

const BLOCK_BYTES = 8_192;
let block = new Uint8Array(0);
let used = 0;

/**
 * A slice of a block that messages share: a separate allocation would cost the garbage collector more than the edit
 * itself.
 */
function shared(bytes: number): Uint8Array {
  if (bytes > BLOCK_BYTES / 2) return new Uint8Array(bytes);
  if (used + bytes > block.length) {
    block = new Uint8Array(BLOCK_BYTES);
    used = 0;
  }
  used += bytes;
  return block.subarray(used - bytes, used);
}

function withEdits(bytes: Uint8Array, edits: readonly Edit[], isStreamed: boolean): Uint8Array {
  // In UTF-8, a UTF-16 unit takes three bytes at most.
  const most = edits.reduce((length, { text }) => length + 3 * text.length, bytes.length);
  // An open stream would keep the whole block.
  const edited = isStreamed ? new Uint8Array(most) : shared(most);
  let at = 0;
  let length = 0;
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    edited.set(bytes.subarray(at, start), length);
    length += start - at;
    length += encoder.encodeInto(text, edited.subarray(length)).written;
    at = end;
  }
  edited.set(bytes.subarray(at), length);
  return edited.subarray(0, length + bytes.length - at);
}
