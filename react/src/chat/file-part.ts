import type { Part } from '@a2a-js/sdk';

import { ChatError } from '../chat-error.js';

/** The largest file that fits into a message of 2 MB once its bytes are written in base64, in bytes. */
export const MAX_FILE_BYTES = 1.4 * 1024 * 1024;

export function isTooLarge({ size }: File): boolean {
  return size > MAX_FILE_BYTES;
}

export function describeSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  // Rounded up, so that what is just too large never looks as large as what is allowed.
  return `${Math.ceil((bytes / 1024 / 1024) * 10) / 10} MB`;
}

/**
 * A file as part of a message.
 *
 * @throws ChatError when it has been moved or changed since it was chosen.
 */
export async function filePart(file: File): Promise<Part> {
  const buffer = await file.arrayBuffer().catch((cause: unknown) => {
    throw new ChatError('file_unreadable', 'The file could not be read.', { cause });
  });
  const value = new Uint8Array(buffer) as Extract<Part['content'], { $case: 'raw' }>['value'];
  return { content: { $case: 'raw', value }, metadata: {}, filename: file.name, mediaType: file.type };
}

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: {}, filename: '', mediaType: '' };
}
