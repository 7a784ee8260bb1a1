import { forwardRef, type ForwardRefExoticComponent, type RefAttributes } from 'react';

import { Boundary, inBoundary } from './chat/boundary.js';
import { ChatPanel } from './chat/chat-panel.js';
import { PlainTranscript } from './chat/transcript.js';
import type { A2AChatHandle, A2AChatProps } from './chat-props.js';
import { useChat, useChatHandle } from './use-a2a-chat.js';

/**
 * A chat with the site's agent that fills its container.
 *
 * @example
 * ```tsx
 * <A2AChat panelTitle="Ask us" suggestedPrompts={['Where is my parcel?']} />
 * ```
 *
 * @public
 */
export const A2AChat: ForwardRefExoticComponent<A2AChatProps & RefAttributes<A2AChatHandle>> = inBoundary(
  forwardRef(function A2AChat(props: A2AChatProps, ref) {
    const chat = useChat(props, true);
    useChatHandle(ref, chat, {});
    return (
      <Boundary fallback={<PlainTranscript messages={chat.messages} />}>
        <ChatPanel {...props} chat={chat} />
      </Boundary>
    );
  }),
);
