import { visible } from './inline-text.js';
import { type JsonObject, objectOf, objectsOf, textOf } from './json.js';
import type { MessagePart } from './message-parts.js';

/** A part as an agent sent it; the store gives it an id. */
export type WirePart = MessagePart extends infer Part ? (Part extends MessagePart ? Omit<Part, 'id'> : never) : never;

/** A message of the agent or of the visitor. */
export interface WireMessage {
  /** Empty when the agent named none. */
  readonly id: string;
  readonly isAgent: boolean;
  readonly contextId: string;
  readonly parts: readonly WirePart[];
}

export interface WireArtifact {
  readonly id: string;
  readonly parts: readonly WirePart[];
}

/** The states of a task in the spelling of A2A 0.3; what is unknown counts as `working`. */
export type WireState =
  'working' | 'completed' | 'canceled' | 'failed' | 'rejected' | 'input-required' | 'auth-required';

export interface WireTask {
  readonly kind: 'task';
  readonly taskId: string;
  readonly contextId: string;
  readonly state: WireState;
  readonly message: WireMessage | undefined;
  readonly artifacts: readonly WireArtifact[];
  readonly history: readonly WireMessage[];
}

/** Events of an agent's answer, from any version of the protocol. */
export type WireEvent =
  | { readonly kind: 'message'; readonly message: WireMessage }
  | WireTask
  | {
      readonly kind: 'status';
      readonly taskId: string;
      readonly contextId: string;
      readonly state: WireState;
      readonly message: WireMessage | undefined;
      /** A2A 0.x: true for the last event of a stream; undefined where the agent does not say. */
      readonly isFinal: boolean | undefined;
    }
  | {
      readonly kind: 'artifact';
      readonly taskId: string;
      readonly contextId: string;
      readonly artifact: WireArtifact;
      readonly isAppended: boolean;
    };

const STATES: ReadonlySet<string> = new Set<WireState>([
  'completed',
  'canceled',
  'failed',
  'rejected',
  'input-required',
  'auth-required',
]);

/** The `result` of a response as an event; undefined when it is none. A2A 0.x names its kind, 1.0 wraps it; some do neither. */
export function readEvent(result: unknown): WireEvent | undefined {
  const json = objectOf(result);
  if (json === undefined) return undefined;
  const inner = objectOf(json['message'] ?? json['task'] ?? json['statusUpdate'] ?? json['artifactUpdate']);
  if (inner !== undefined && json['status'] === undefined) return readBare(inner);
  return readBare(json);
}

function readBare(json: JsonObject): WireEvent | undefined {
  const contextId = textOf(json['contextId']);
  const artifact = objectOf(json['artifact']);
  if (artifact !== undefined)
    return {
      kind: 'artifact',
      taskId: textOf(json['taskId']),
      contextId,
      artifact: readArtifact(artifact, 0),
      isAppended: json['append'] === true,
    };
  if (Array.isArray(json['parts'])) return { kind: 'message', message: readMessage(json) };
  const status = objectOf(json['status']);
  if (status === undefined) return undefined;
  const said = objectOf(status['message']);
  const standing = { contextId, state: readState(status['state']), message: said && readMessage(said) };
  const id = textOf(json['id']);
  if (id !== '' && json['kind'] !== 'status-update')
    return {
      kind: 'task',
      taskId: id,
      ...standing,
      artifacts: objectsOf(json['artifacts']).map(readArtifact),
      history: objectsOf(json['history']).map(readMessage),
    };
  const { final } = json;
  return {
    kind: 'status',
    taskId: textOf(json['taskId']),
    ...standing,
    isFinal: typeof final === 'boolean' ? final : undefined,
  };
}

function readState(state: unknown): WireState {
  const name = textOf(state)
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replace(/_/g, '-')
    .replace('cancelled', 'canceled');
  return STATES.has(name) ? (name as WireState) : 'working';
}

function readMessage(json: JsonObject): WireMessage {
  return {
    id: textOf(json['messageId']),
    isAgent: !/user$/i.test(textOf(json['role'])),
    contextId: textOf(json['contextId']),
    parts: readParts(json['parts']),
  };
}

function readArtifact(json: JsonObject, index: number): WireArtifact {
  return {
    id: textOf(json['artifactId']) || `artifact-${index}`,
    parts: readParts(json['parts'], textOf(json['name'])),
  };
}

function readParts(parts: unknown, title = ''): readonly WirePart[] {
  return objectsOf(parts).flatMap((part) => readPart(part, title) ?? []);
}

function readPart(part: JsonObject, title: string): WirePart | undefined {
  const metadata = objectOf(part['metadata']) ?? {};
  // A2A 0.x nests files, 1.0 does not.
  const file = objectOf(part['file']) ?? part;
  const bytes = textOf(file['bytes'] ?? file['raw']);
  const url = textOf(file['uri'] ?? file['url']);
  if (bytes !== '' || url !== '')
    return {
      type: 'file',
      // Otherwise `annual\u202efdp.exe` would look like a PDF.
      name: visible(textOf(file['name'] ?? file['filename'])),
      mediaType: textOf(file['mimeType'] ?? file['mediaType']),
      ...(bytes === '' ? { url } : { bytes, size: sizeOf(bytes) }),
    };
  if (typeof part['text'] === 'string') return { type: isThought(metadata) ? 'thought' : 'text', text: part['text'] };
  if (part['data'] === undefined) return undefined;
  return {
    type: 'data',
    data: isDeeperThan(MAX_DATA_DEPTH, part['data']) ? '…' : part['data'],
    name: title,
    isThought: isThought(metadata) || isToolCall(metadata),
  };
}

/** More levels of nested data than people read. Far fewer than `JSON.stringify` can write, which depends on the browser and the stack. */
const MAX_DATA_DEPTH = 200;

function isDeeperThan(levels: number, data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false;
  return levels === 0 || Object.values(data).some((value) => isDeeperThan(levels - 1, value));
}

/** True for a part with a mark such as `adk_thought: true`. */
function isThought(metadata: JsonObject): boolean {
  return Object.entries(metadata).some(([name, value]) => value === true && /(?:^|[^a-z])thought$/i.test(name));
}

/** True for a part with a mark such as `adk_type: 'function_call'`. */
function isToolCall(metadata: JsonObject): boolean {
  return Object.entries(metadata).some(
    ([name, value]) =>
      /(?:^|[^a-z])type$/i.test(name) && /^(?:function|tool)[-_](?:call|response|result)/i.test(textOf(value)),
  );
}

function sizeOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
}
