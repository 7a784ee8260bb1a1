import { Fragment, type ReactElement, type ReactNode, useEffect, useRef } from 'react';

import type { A2AChatProps, ChatUser } from '../chat-props.js';
import { AgentIcon, FileIcon, PersonIcon } from '../icons.js';
import { type ChatLabels, useLabels } from '../labels.js';
import type { AgentMessage, ChatMessage, ChatState, UserMessage } from './chat-state.js';
import { Markdown } from './markdown.js';

interface TranscriptProps {
  readonly chat: ChatState;
  readonly user: ChatUser | undefined;
  readonly renderMessage: A2AChatProps['renderMessage'];
  /** Shown instead of messages while there are none. */
  readonly welcome: ReactNode;
}

/** The conversation, with its end in view for a reader who is at its end. */
export function Transcript({ chat, user, renderMessage, welcome }: TranscriptProps) {
  const { messages, phase } = chat;
  const labels = useLabels();
  const isBusy = phase !== 'idle';
  const last = messages.at(-1);
  const { log, content, onScroll } = useFollowedEnd(last);
  const show = (message: ChatMessage): ReactElement =>
    message.role === 'user' ? (
      <Question message={message} user={user} />
    ) : (
      <AnswerBubble message={message} isGrowing={isBusy && message === last} />
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
          <Fragment key={message.id}>
            {renderMessage === undefined ? show(message) : renderMessage(message, show(message))}
          </Fragment>
        ))}
        {isBusy && last?.role === 'user' && <Thinking />}
      </div>
    </div>
  );
}

function Question({ message, user }: { readonly message: UserMessage; readonly user: ChatUser | undefined }) {
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
}

function AnswerBubble({ message, isGrowing }: { readonly message: AgentMessage; readonly isGrowing: boolean }) {
  const { text, state } = message;
  const labels = useLabels();
  if (isGrowing && text === '') return <Thinking />;
  const note = noteOf(message, labels);
  return (
    <div className="a2a-message a2a-message-agent" data-state={isGrowing ? 'growing' : state}>
      <span className="a2a-avatar">
        <AgentIcon />
      </span>
      <div className="a2a-bubble" aria-busy={isGrowing}>
        <span className="a2a-hidden">{labels.agent}: </span>
        {text !== '' && <Markdown text={text} isGrowing={isGrowing} />}
        {!isGrowing && note !== '' && <p className="a2a-note">{note}</p>}
      </div>
    </div>
  );
}

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
