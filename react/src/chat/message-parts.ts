import type { ChatMessage } from './chat-state.js';

/** Text: an answer, a thought, the agent's question, the reason for a failure, or progress. */
export interface TextPart {
  /** Stays the same while the part grows; unique in its message. */
  readonly id: string;
  /**
   * - `text`: the answer itself, in Markdown.
   * - `thought`: how the agent arrived at its answer, in Markdown; shown folded.
   * - `question`: what the agent needs to go on, in Markdown.
   * - `error`: why the agent could not finish, in Markdown.
   * - `status`: what the agent was busy with, in Markdown; of no use once the answer is there.
   */
  readonly type: 'text' | 'thought' | 'question' | 'error' | 'status';
  readonly text: string;
}

/** A file: its bytes, its address, or its name only. */
export interface FilePart {
  readonly id: string;
  readonly type: 'file';
  /** As the agent or the visitor named it; may be empty. */
  readonly name: string;
  /** Such as `image/png`; may be empty. */
  readonly mediaType: string;
  /** The bytes in base64; undefined when there is an address, or when they were too large to be stored. */
  readonly bytes?: string;
  /** As the agent wrote it: any scheme, any origin. */
  readonly url?: string;
  /** In bytes, when it is known. */
  readonly size?: number;
}

/** Structured data. */
export interface DataPart {
  readonly id: string;
  readonly type: 'data';
  /** A JSON value. */
  readonly data: unknown;
  /** A title, such as the artifact's name; may be empty. */
  readonly name: string;
  /** True for steps on the way to an answer, such as a tool call; shown folded. */
  readonly isThought: boolean;
}

/** One piece of a message, as the chat stores and shows it. */
export type MessagePart = TextPart | FilePart | DataPart;

/** A stored message. Sites pass and receive messages without these additions. */
export type StoredMessage<Message extends ChatMessage = ChatMessage> = Message & {
  readonly parts?: readonly MessagePart[];
  /** True for the last message of an ended conversation; later messages belong to a new one. */
  readonly endsConversation?: boolean;
};

/** The parts of a message, in the order they are shown; of a message without parts, its text and its file. */
export function partsOf(message: StoredMessage): readonly MessagePart[] {
  if (message.parts !== undefined) return message.parts;
  const { text } = message;
  const fileName = message.role === 'user' ? message.fileName : undefined;
  return [
    ...(text === '' ? [] : [{ id: 'text', type: 'text' as const, text }]),
    ...(fileName === undefined ? [] : [{ id: 'file', type: 'file' as const, name: fileName, mediaType: '' }]),
  ];
}

/** The message as one Markdown text: without thoughts and progress, with files as links or names. */
export function textOfParts(parts: readonly MessagePart[]): string {
  return parts
    .map(textOfPart)
    .filter((text) => text !== '')
    .join('\n\n');
}

function textOfPart(part: MessagePart): string {
  switch (part.type) {
    case 'text':
    case 'question':
    case 'error':
      return part.text;
    case 'thought':
    case 'status':
      return '';
    case 'file':
      return part.url === undefined ? `\`${part.name || 'file'}\`` : `[${part.name || 'file'}](${part.url})`;
    case 'data':
      return part.isThought ? '' : `\`\`\`json\n${JSON.stringify(part.data, null, 2)}\n\`\`\``;
  }
}
