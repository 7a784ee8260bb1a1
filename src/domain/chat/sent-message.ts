import type { SessionUser } from '../../ports/session-token-source.js';
import { RequestError } from '../shared/errors.js';
import { isObject } from '../shared/json.js';
import { JsonDocument } from '../shared/json-document.js';
import type { A2ACall, CallBody } from './call.js';
import { choosesMemory, MAX_MEMBERS, MAX_NAME, namesUser, normalizedName } from './member-names.js';

/** The facts passed to the site's functions for metadata. */
export interface MetadataAbout {
  /** The framework's own request. */
  readonly request: unknown;
  readonly session: SessionUser | null;
  readonly visitor: string | null;
}

/** A route's rules for `metadata`, in message and params. */
export interface SiteMetadata {
  /** The folded names that the site sets, and that no visitor may use. */
  readonly names: ReadonlySet<string>;
  /** True if the visitor's member of this exact name crosses. */
  readonly passes: (name: string) => boolean;
  /** The site's members for one message, as JSON without braces; absent if it has none. */
  readonly own?: (about: MetadataAbout) => Promise<string>;
}

/** The changes to a message. */
export interface MessageChanges {
  /** The context that it gets; absent if it keeps its own. */
  readonly contextId?: string | undefined;
  /** Absent if metadata crosses as it is. */
  readonly rules: SiteMetadata | undefined;
  /** The site's members, as JSON without braces such as `"plan":"gold"`. */
  readonly own: string;
}

type Members = Record<string, unknown>;

/** The bytes to send, or `null` without a body. They are written again only if something changes. The call keeps no value. */
export function sentBytes({ binding, body }: A2ACall, changes: MessageChanges): Uint8Array | null {
  if (body === undefined) return null;
  const { content } = body;
  const isEdited = isChanged(body, changes);
  if (content instanceof Uint8Array && !isEdited) return content;
  const document = content instanceof Uint8Array ? new JsonDocument(content) : content;
  if (isEdited) change(binding === 'JSONRPC' ? membersOf(document.value)?.['params'] : document.value, body, changes);
  body.content = isEdited ? document.edited() : document.bytes();
  return body.content;
}

function change(given: unknown, { names }: CallBody, { contextId, rules, own }: MessageChanges): void {
  const params = membersOf(given);
  if (params === undefined) return;
  const member = (params['message'] ?? undefined) === undefined ? 'request' : 'message';
  const message = membersOf(params[member]);
  if (message !== undefined && contextId !== undefined) params[member] = inContext(message, contextId);
  if (rules === undefined) return;
  for (const one of [membersOf(params[member]), params]) if (one !== undefined) setMetadata(one, rules, own);
  for (const name of names.params ?? []) if (namesUser(name)) params[name] = {};
}

/** The message with its context as the first member. A message that is read for its conversation has no `__proto__`. */
function inContext(message: Members, contextId: string): Members {
  const placed: Members = { contextId };
  for (const name in message) if (name !== 'contextId') placed[name] = message[name];
  return placed;
}

function isChanged({ names }: CallBody, { contextId, rules, own }: MessageChanges): boolean {
  if (contextId !== undefined) return true;
  if (rules === undefined) return false;
  const { message = [], params = [] } = names;
  return own !== '' || message.includes('metadata') || params.includes('metadata') || params.some(namesUser);
}

function setMetadata(holder: Members, rules: SiteMetadata, own: string): void {
  const { metadata } = holder;
  if ((metadata === undefined || metadata === null) && own === '') return;
  const crossing = Object.entries(membersOf(metadata) ?? {});
  if (crossing.length > MAX_MEMBERS || crossing.some(([{ length }]) => length > MAX_NAME)) throw tooLarge();
  const passed = crossing.filter(([name]) => mayPass(name, rules));
  holder['metadata'] = { ...Object.fromEntries(passed), ...(JSON.parse(`{${own}}`) as Members) };
}

function mayPass(name: string, { names, passes }: SiteMetadata): boolean {
  // Some parsers read a name up to a NUL.
  const isOdd = name === '__proto__' || name.includes('\0');
  return !isOdd && !names.has(normalizedName(name)) && !choosesMemory(name) && passes(name);
}

function membersOf(value: unknown): Members | undefined {
  return isObject(value) ? (value as Members) : undefined;
}

function tooLarge(): RequestError {
  return new RequestError('body_invalid', {
    detail: 'The metadata has too many members, or one with a name that is too long.',
    hint: `Send at most ${String(MAX_MEMBERS)} members.`,
    rpcCode: -32602,
  });
}
