import { lazy, memo, type ReactElement, type ReactNode, Suspense, useEffect, useRef } from 'react';

import type { A2AChatProps, ChatUser } from '../chat-props.js';
import { AgentIcon, FileIcon, PersonIcon } from '../icons.js';
import { type ChatLabels, useLabels } from '../labels.js';
import { Boundary } from './boundary.js';
import type { AgentMessage, ChatMessage, ChatState, UserMessage } from './chat-state.js';
import { partsOf, type StoredMessage } from './message-parts.js';

interface TranscriptProps {
  readonly chat: ChatState;
  readonly user: ChatUser | undefined;
  readonly renderMessage: A2AChatProps['renderMessage'];
  /** Shown instead of messages while there are none. */
  readonly welcome: ReactNode;
}

const loadAnswerParts = () => import('./answer-parts.js');
const AnswerParts = lazy(loadAnswerParts);

/** The conversation, with its end in view for a reader who is at its end. */
export function Transcript({ chat, user, renderMessage, welcome }: TranscriptProps) {
  const { messages, phase, mediaOrigins } = chat;
  const labels = useLabels();
  const isBusy = phase !== 'idle';
  const last = messages.at(-1);
  const { log, content, onScroll } = useFollowedEnd(last);
  useEffect(() => void loadAnswerParts().catch(() => undefined), []);
  const show = (message: ChatMessage): ReactElement =>
    message.role === 'user' ? (
      <Question message={message} user={user} />
    ) : (
      <AnswerBubble message={message} isGrowing={isBusy && message === last} mediaOrigins={mediaOrigins} />
    );
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
        {messages.length === 0 && welcome}
        {messages.map((message) => (
          <Boundary key={message.id} fallback={<PlainMessage message={message} />}>
            {renderMessage === undefined ? (
              show(message)
            ) : (
              <Rendered {...{ message, shown: show(message), renderMessage }} />
            )}
          </Boundary>
        ))}
        {isBusy && last?.role === 'user' && <Thinking />}
      </div>
    </div>
  );
}

interface RenderedProps {
  readonly message: ChatMessage;
  readonly shown: ReactElement;
  readonly renderMessage: NonNullable<A2AChatProps['renderMessage']>;
}

/** A component, so that an error of the site's function stays in its message. */
function Rendered({ message, shown, renderMessage }: RenderedProps): ReactNode {
  return renderMessage(message, shown);
}

/** What is left of a chat that could not be shown. */
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
      </div>
    </section>
  );
}

/** What is left of a message that could not be shown. */
function PlainMessage({ message: { role, text } }: { readonly message: ChatMessage }) {
  return (
    <div className={`a2a-message a2a-message-${role}`}>
      <div className="a2a-bubble">
        <PlainText text={text} />
      </div>
    </div>
  );
}

function PlainText({ text }: { readonly text: string }) {
  return (
    <p className="a2a-plain" dir="auto">
      {String(text)}
    </p>
  );
}

const Question = memo(function Question({
  message,
  user,
}: {
  readonly message: UserMessage;
  readonly user: ChatUser | undefined;
}) {
  const { text, fileName } = message;
  const { you } = useLabels();
  return (
    <div className="a2a-message a2a-message-user">
      <div className="a2a-bubble">
        <span className="a2a-hidden">{user?.name || you}: </span>
        {text !== '' && <p dir="auto">{text}</p>}
        {fileName !== undefined && (
          <p className="a2a-file">
            <FileIcon />
            <span>{fileName}</span>
          </p>
        )}
      </div>
      {user?.picture ? (
        <img className="a2a-avatar" src={user.picture} alt="" />
      ) : (
        <span className="a2a-avatar">
          <PersonIcon />
        </span>
      )}
    </div>
  );
});

interface AnswerBubbleProps {
  readonly message: StoredMessage<AgentMessage>;
  readonly isGrowing: boolean;
  readonly mediaOrigins: readonly string[];
}

const AnswerBubble = memo(function AnswerBubble({ message, isGrowing, mediaOrigins }: AnswerBubbleProps) {
  const { state } = message;
  const labels = useLabels();
  const parts = partsOf(message);
  if (isGrowing && parts.length === 0) return <Thinking />;
  const note = noteOf(message, labels);
  // Until the parts can be formatted, and when they cannot.
  const plain = <PlainText text={message.text} />;
  return (
    <div className="a2a-message a2a-message-agent" data-state={isGrowing ? 'growing' : state}>
      <span className="a2a-avatar">
        <AgentIcon />
      </span>
      <div className="a2a-bubble" aria-busy={isGrowing}>
        <span className="a2a-hidden">{labels.agent}: </span>
        <Boundary fallback={plain}>
          <Suspense fallback={plain}>
            <AnswerParts parts={parts} isGrowing={isGrowing} mediaOrigins={mediaOrigins} />
          </Suspense>
        </Boundary>
        {!isGrowing && note !== '' && <p className="a2a-note">{note}</p>}
      </div>
    </div>
  );
});

function noteOf({ state, text }: AgentMessage, labels: ChatLabels): string {
  const { stopped, failed, incomplete, inputRequired, authRequired, empty } = labels;
  const complete = text === '' ? empty : '';
  return {
    stopped,
    failed,
    working: incomplete,
    complete,
    'input-required': inputRequired,
    'auth-required': authRequired,
  }[state];
}

function Thinking() {
  const { thinking } = useLabels();
  return (
    <div className="a2a-message a2a-message-agent" data-state="thinking">
      <span className="a2a-avatar">
        <AgentIcon />
      </span>
      <div className="a2a-bubble a2a-thinking">
        <span className="a2a-hidden">{thinking}</span>
        <i />
        <i />
        <i />
      </div>
    </div>
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
  // Who has just said something wants to see it.
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
