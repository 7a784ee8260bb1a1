import type { ChatSession } from './chat-session.js';
import type { ChatMessage } from './chat-state.js';

/** What a conversation needs to go on. */
interface KeptConversation {
  readonly contextId: string;
  readonly openTaskId: string;
  readonly messages: readonly ChatMessage[];
}

/**
 * Goes on with the conversation this tab has kept, and keeps it again when the page or the chat goes. In `sessionStorage`,
 * which other tabs do not see and which ends with this one. A chat works as well where the browser keeps nothing.
 */
export function keepConversation(session: ChatSession, name: string): () => void {
  const kept = read(name);
  if (kept !== undefined && session.getState().messages.length === 0)
    session.open(kept.contextId, kept.messages, kept.openTaskId);

  const keep = (): void => write(name, session);
  addEventListener('pagehide', keep);
  return () => {
    keep();
    removeEventListener('pagehide', keep);
  };
}

function read(name: string): KeptConversation | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(name) ?? '{}') as Partial<KeptConversation>;
    return Array.isArray(kept.messages) ? (kept as KeptConversation) : undefined;
  } catch {
    return undefined; // forbidden, or not ours
  }
}

function write(name: string, { getState, openTaskId }: ChatSession): void {
  const { contextId, messages } = getState();
  const kept: KeptConversation = { contextId, openTaskId, messages };
  try {
    if (messages.length === 0) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(kept));
  } catch {
    // forbidden, or full
  }
}
