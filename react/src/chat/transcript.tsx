import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from 'react';

import { MESSAGES } from '../chat-error.js';
import type { A2AChatProps, ChatUser } from '../chat-props.js';
import { useLabels } from '../labels.js';
import type { ChatMessage, ChatState } from './chat-state.js';
import { later } from './later.js';
import { LinksContext } from './links-context.js';

interface TranscriptProps {
  readonly chat: ChatState;
  /** The element that scrolls. */
  readonly log: RefObject<HTMLDivElement | null>;
  readonly user: ChatUser | undefined;
  readonly renderMessage: A2AChatProps['renderMessage'];
  readonly linksTo: A2AChatProps['links'];
  readonly isSameTab: boolean;
  /** Shown instead of messages while there are none. */
  readonly welcome: ReactNode;
}

const loadMessages = () => import('./message-list.js').then((loaded) => loaded.default);
const MessageList = later(loadMessages);

/** The conversation, with its end in view for a reader who is at its end. */
export function Transcript({ chat, log, user, renderMessage, linksTo = 'web', isSameTab, welcome }: TranscriptProps) {
  const { messages, phase, mediaOrigins } = chat;
  const labels = useLabels();
  const isBusy = phase !== 'idle';
  const content = useRef<HTMLDivElement>(null);
  const links = useMemo(() => ({ linksTo, isSameTab }), [linksTo, isSameTab]);
  useEffect(() => void loadMessages().catch(() => undefined), []);
  // Shown until the messages can be formatted, or if they cannot be.
  const plain = messages.map((message) => <PlainMessage key={message.id} message={message} />);
  return (
    <div
      className="a2a-log"
      role="log"
      aria-live="polite"
      aria-label={labels.conversation}
      aria-busy={isBusy}
      tabIndex={0}
      ref={log}
    >
      <div className="a2a-messages" ref={content}>
        {messages.length === 0 ? (
          welcome
        ) : (
          <LinksContext.Provider value={links}>
            <MessageList
              waiting={plain}
              failed={plain}
              attempt={messages.length}
              {...{ messages, isBusy, mediaOrigins, user, renderMessage, log, content }}
            />
          </LinksContext.Provider>
        )}
      </div>
    </div>
  );
}

interface PlainTranscriptProps {
  readonly messages: readonly ChatMessage[];
  /** The label and the action of a button that closes the panel. */
  readonly closing?: readonly [string, () => void];
}

/** A plain version of a chat that failed to render. */
export function PlainTranscript({ messages, closing }: PlainTranscriptProps) {
  return (
    <section className="agent-bff">
      <div className="a2a-panel">
        <div className="a2a-log">
          <div className="a2a-messages">
            {messages.map((message) => (
              <PlainMessage key={message.id} message={message} />
            ))}
          </div>
        </div>
        <p className="a2a-broken" role="alert">
          {MESSAGES.pageFailed}
        </p>
        {closing && (
          <button type="button" className="a2a-button" onClick={closing[1]}>
            {closing[0]}
          </button>
        )}
      </div>
    </section>
  );
}

/** A plain version of a message that failed to render. */
export function PlainMessage({ message: { role, text } }: { readonly message: ChatMessage }) {
  return (
    <div className={`a2a-message a2a-message-${role}`}>
      <div className="a2a-bubble">
        <PlainText text={text} />
      </div>
    </div>
  );
}

export function PlainText({ text }: { readonly text: string }) {
  return (
    <p className="a2a-plain" dir="auto">
      {String(text)}
    </p>
  );
}
