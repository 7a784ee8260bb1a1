import type { Message, Part } from '@a2a-js/sdk';

/** The text of a message. */
export function textOf(message: Message): string {
  return message.parts
    .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
    .join(' ')
    .trim();
}

/** The files of a message, included or linked. */
export function filesOf(message: Message): Part[] {
  return message.parts.filter(({ content }) => content?.$case === 'raw' || content?.$case === 'url');
}

export function nameOf({ filename }: Part): string {
  return filename === '' ? 'a file without a name' : filename;
}
