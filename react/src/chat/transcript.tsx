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

/**
 * Keeps the end of a growing list in view, unless its reader has scrolled back: whatever makes it grow, or its place shrink.
 * Nothing else sets the list's scroll position.
 */
function useFollowedEnd(last: ChatMessage | undefined) {
  const log = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  /** The position seen last, in pixels. */
  const top = useRef(0);
  const isEmpty = last === undefined;
  useEffect(() => {
    const { current: viewport } = log;
    if (viewport === null || content.current === null || isEmpty) return undefined;
    const leaveEnd = (): void => {
      if (viewport.scrollTop > 0) isAtEnd.current = false;
    };
    // WebKit scrolls outside the main thread, so the position may change only after the next piece has been written.
    const onWheel = ({ deltaY, ctrlKey }: WheelEvent): void => {
      if (deltaY < 0 && !ctrlKey) leaveEnd();
    };
    const onKeyDown = ({ key, target }: KeyboardEvent): void => {
      if (target === viewport && ['ArrowUp', 'PageUp', 'Home'].includes(key)) leaveEnd();
    };
    let touchY = 0;
    const onTouch = ({ type, touches: [touch] }: TouchEvent): void => {
      if (touch === undefined) return;
      if (type === 'touchmove' && touch.clientY > touchY) leaveEnd();
      touchY = touch.clientY;
    };
    const passive = { passive: true };
    viewport.addEventListener('wheel', onWheel, passive);
    viewport.addEventListener('keydown', onKeyDown);
    viewport.addEventListener('touchstart', onTouch, passive);
    viewport.addEventListener('touchmove', onTouch, passive);
    // jsdom, in which sites test their pages, has none.
    const observer =
      typeof ResizeObserver === 'undefined'
        ? undefined
        : new ResizeObserver(() => {
            // The reader may have moved although the scroll event is still to come.
            if (hasMovedBack(viewport, top.current)) isAtEnd.current = false;
            if (isAtEnd.current) viewport.scrollTop = viewport.scrollHeight;
            // A shorter list moves the position too; that scroll event must not look like a reader's.
            top.current = viewport.scrollTop;
          });
    observer?.observe(viewport);
    observer?.observe(content.current);
    return () => {
      observer?.disconnect();
      viewport.removeEventListener('wheel', onWheel);
      viewport.removeEventListener('keydown', onKeyDown);
      viewport.removeEventListener('touchstart', onTouch);
      viewport.removeEventListener('touchmove', onTouch);
    };
  }, [isEmpty]);
  // A message just sent is scrolled into view.
  useEffect(() => {
    if (last?.role !== 'user' || log.current === null) return;
    isAtEnd.current = true;
    log.current.scrollTop = log.current.scrollHeight;
    top.current = log.current.scrollTop;
  }, [last]);
  const onScroll = (): void => {
    const { current: viewport } = log;
    if (viewport === null) return;
    // Far from the end says nothing: more may have been written since. Only a reader moves back.
    if (hasMovedBack(viewport, top.current)) isAtEnd.current = false;
    else if (viewport.scrollTop > top.current && fromEnd(viewport) < 48) isAtEnd.current = true;
    top.current = viewport.scrollTop;
  };
  return { log, content, onScroll };
}

/** True if the position is before an earlier one and not at the end, where a list that got shorter puts it. */
function hasMovedBack(viewport: HTMLElement, before: number): boolean {
  return viewport.scrollTop < before - 1 && fromEnd(viewport) > 1;
}

function fromEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number {
  return scrollHeight - scrollTop - clientHeight;
}
