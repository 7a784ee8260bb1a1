import { Role, type Part, type SendMessageRequest } from '@a2a-js/sdk';

/** A chat message as a client of version 1.0 sends it, with an optional extra part. */
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
