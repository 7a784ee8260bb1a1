import type { ChatMessage } from './chat-state';
import { readAnswer, refuseFailure } from './read-answer';

/** A conversation as the list of records has it. */
export interface ConversationEntry {
  /** The A2A context id. */
  readonly id: string;
  readonly title: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

interface RecordedMessage {
  readonly role: 'user' | 'agent';
  readonly text: string;
}

/** The signed-in user's conversations, newest first. */
export async function listConversations(serviceBaseUrl: string): Promise<readonly ConversationEntry[]> {
  const response = await fetch(`${serviceBaseUrl}/conversations`);
  return (await readAnswer<{ conversations: readonly ConversationEntry[] }>(response)).conversations;
}

/** The messages of one conversation, oldest first. */
export async function readConversation(serviceBaseUrl: string, id: string): Promise<readonly ChatMessage[]> {
  const response = await fetch(addressOf(serviceBaseUrl, id));
  const { messages } = await readAnswer<{ messages: readonly RecordedMessage[] }>(response);
  return messages.map(({ role, text }, index) =>
    role === 'user' ? { id: `${id}-${index}`, role, text } : { id: `${id}-${index}`, role, text, state: 'complete' },
  );
}

export async function deleteConversation(serviceBaseUrl: string, id: string): Promise<void> {
  await refuseFailure(await fetch(addressOf(serviceBaseUrl, id), { method: 'DELETE' }));
}

function addressOf(serviceBaseUrl: string, id: string): string {
  return `${serviceBaseUrl}/conversations/${encodeURIComponent(id)}`;
}
