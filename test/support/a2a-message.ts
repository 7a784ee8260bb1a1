import { Role, type Part, type SendMessageRequest } from '@a2a-js/sdk';

/** What a client of version 1.0 sends for a visitor who says something, and adds a part to it where one is given. */
export function spoken(text: string, ...more: readonly Part[]): SendMessageRequest {
  return {
    tenant: '',
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [
        { content: { $case: 'text', value: text }, metadata: {}, filename: '', mediaType: 'text/plain' },
        ...more,
      ],
      metadata: {},
      extensions: [],
      referenceTaskIds: [],
    },
  };
}
