import { lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';

import { MESSAGES } from '../chat-error.js';
import type { A2AChatProps, ChatUser } from '../chat-props.js';
import { useLabels } from '../labels.js';
import { Boundary } from './boundary.js';
import type { ChatMessage, ChatState } from './chat-state.js';

interface TranscriptProps {
  readonly chat: ChatState;
  readonly user: ChatUser | undefined;
  readonly renderMessage: A2AChatProps['renderMessage'];
  /** Shown instead of messages while there are none. */
  readonly welcome: ReactNode;
}

const loadMessages = () => import('./message-list.js');
const MessageList = lazy(loadMessages);

/** The conversation, with its end in view for a reader who is at its end. */
export function Transcript({ chat, user, renderMessage, welcome }: TranscriptProps) {
  const { messages, phase, mediaOrigins } = chat;
  const labels = useLabels();
  const isBusy = phase !== 'idle';
  const { log, content, onScroll } = useFollowedEnd(messages[messages.length - 1]);
  useEffect(() => void loadMessages().catch(() => undefined), []);
  // Until the messages can be formatted, and when they cannot.
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
      onScroll={onScroll}
    >
      <div className="a2a-messages" ref={content}>
        {messages.length === 0 ? (
          welcome
        ) : (
          <Boundary fallback={plain}>
            <Suspense fallback={plain}>
              <MessageList {...{ messages, isBusy, mediaOrigins, user, renderMessage }} />
            </Suspense>
          </Boundary>
        )}
      </div>
    </div>
  );
}

/** A plain version of a chat that failed to render. */
export function PlainTranscript({ messages }: { readonly messages: readonly ChatMessage[] }) {
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

/** Keeps the end of a growing list in view, unless its reader has scrolled back: whatever makes it grow, or its place shrink. */
function useFollowedEnd(last: ChatMessage | undefined) {
  const log = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const isEmpty = last === undefined;
  useEffect(() => {
    const { current: viewport } = log;
    if (viewport === null || content.current === null || isEmpty) return undefined;
    if (typeof ResizeObserver === 'undefined') return undefined; // jsdom, in which sites test their pages
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) viewport.scrollTop = viewport.scrollHeight;
    });
    observer.observe(viewport);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [isEmpty]);
  // A message just sent is scrolled into view.
  useEffect(() => {
    if (last?.role !== 'user' || log.current === null) return;
    isAtEnd.current = true;
    log.current.scrollTop = log.current.scrollHeight;
  }, [last]);
  const top = useRef(0);
  const onScroll = (): void => {
    if (log.current === null) return;
    const { scrollHeight, scrollTop, clientHeight } = log.current;
    // By the time this is called more may have been written, so that being far from the end says nothing: only a reader moves back.
    if (scrollHeight - scrollTop - clientHeight < 48) isAtEnd.current = true;
    else if (scrollTop < top.current) isAtEnd.current = false;
    top.current = scrollTop;
  };
  return { log, content, onScroll };
}
