import { ChatPanel } from './chat/chat-panel';
import type { A2AChatProps } from './chat/chat-props';

/**
 * A chat with the site's agent that fills the place it is put into.
 *
 * @example
 * ```tsx
 * <A2AChat panelTitle="Ask us" suggestedPrompts={['Where is my parcel?']} />
 * ```
 */
export function A2AChat(props: A2AChatProps) {
  return <ChatPanel {...props} />;
}
