import type { Part } from '@a2a-js/sdk';

/** The largest file that fits into a message of 2 MB once its bytes are written in base64, in bytes. */
export const MAX_FILE = 1.4 * 1024 * 1024;

/** Why a file cannot be sent, or undefined when it can. */
export function refusalOf({ name, size }: File): string | undefined {
  if (size <= MAX_FILE) return undefined;
  return `${name} is too large: ${describeSize(size)}. A file may have at most ${describeSize(MAX_FILE)}.`;
}

export function describeSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  // Rounded up, so that what is just too large never looks as large as what is allowed.
  return `${Math.ceil((bytes / 1024 / 1024) * 10) / 10} MB`;
}

/** A file as part of a message. */
export async function filePart(file: File): Promise<Part> {
  const value = new Uint8Array(await file.arrayBuffer()) as Extract<Part['content'], { $case: 'raw' }>['value'];
  return { content: { $case: 'raw', value }, metadata: {}, filename: file.name, mediaType: file.type };
}

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: {}, filename: '', mediaType: '' };
}
