import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react';

import type { ChatUser } from './chat-props';
import type { AgentMessage, ChatMessage, ChatState, UserMessage } from './chat-state';
import { AgentIcon, FileIcon, PersonIcon } from './icons';
import { Markdown } from './markdown';
import './transcript.css';

interface TranscriptProps {
  readonly state: ChatState;
  readonly user: ChatUser | undefined;
  /** Shown instead of messages while there are none. */
  readonly welcome: ReactNode;
}

/** The conversation, with its end in sight for a reader who is at its end. */
export function Transcript({ state, user, welcome }: TranscriptProps) {
  const { messages, phase } = state;
  const log = useRef<HTMLDivElement>(null);
  const end = useFollowedEnd(log, messages);
  const isBusy = phase !== 'idle';
  const last = messages.at(-1);
  return (
    <div
      className="a2a-log"
      role="log"
      aria-live="polite"
      aria-label="Conversation"
      aria-busy={isBusy}
      tabIndex={0}
      ref={log}
      onScroll={end.onScroll}
    >
      {messages.length === 0 && welcome}
      {messages.map((message) =>
        message.role === 'user' ? (
          <Question key={message.id} message={message} user={user} />
        ) : (
          <AnswerBubble key={message.id} message={message} isGrowing={isBusy && message === last} />
        ),
      )}
      {isBusy && last?.role === 'user' && <Thinking />}
    </div>
  );
}

function Question({ message, user }: { readonly message: UserMessage; readonly user: ChatUser | undefined }) {
  const { text, fileName } = message;
  return (
    <div className="a2a-message a2a-message-user">
      <div className="a2a-bubble">
        <span className="a2a-hidden">{user?.name ?? 'You'}: </span>
        {text !== '' && <p>{text}</p>}
        {fileName !== undefined && (
          <p className="a2a-file">
            <FileIcon />
            {fileName}
          </p>
        )}
      </div>
      {user === undefined ? (
        <span className="a2a-avatar">
          <PersonIcon />
        </span>
      ) : (
        <img className="a2a-avatar" src={user.picture} alt="" />
      )}
    </div>
  );
}

function AnswerBubble({ message, isGrowing }: { readonly message: AgentMessage; readonly isGrowing: boolean }) {
  const { text, state } = message;
  if (isGrowing && text === '') return <Thinking />;
  const note = noteOf(message);
  return (
    <div className="a2a-message a2a-message-agent" data-state={isGrowing ? 'growing' : state}>
      <span className="a2a-avatar">
        <AgentIcon />
      </span>
      <div className="a2a-bubble" aria-busy={isGrowing}>
        <span className="a2a-hidden">Agent: </span>
        {text !== '' && <Markdown text={text} />}
        {!isGrowing && note !== '' && <p className="a2a-note">{note}</p>}
      </div>
    </div>
  );
}

function noteOf({ state }: AgentMessage): string {
  if (state === 'stopped') return 'Stopped.';
  if (state === 'failed') return 'The agent could not finish this.';
  if (state === 'working') return 'This answer is not complete.';
  return '';
}

function Thinking() {
  return (
    <div className="a2a-message a2a-message-agent" data-state="thinking">
      <span className="a2a-avatar">
        <AgentIcon />
      </span>
      <div className="a2a-bubble a2a-thinking">
        <span className="a2a-hidden">The agent is thinking.</span>
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}

/** Keeps the end of a growing list in sight, unless its reader has scrolled back. */
function useFollowedEnd(log: RefObject<HTMLElement | null>, messages: readonly ChatMessage[]) {
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const { current } = log;
    if (messages.at(-1)?.role === 'user') isAtEnd.current = true;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  });
  const onScroll = (): void => {
    const { current } = log;
    if (current !== null) {
      isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 48;
    }
  };
  return { onScroll };
}
