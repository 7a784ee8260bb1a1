import { Fragment, memo, type ReactElement, type ReactNode, type RefObject, useMemo } from 'react';

import type { A2AChatProps, ChatUser } from '../chat-props.js';
import { AgentIcon, FileIcon, icon } from '../icons.js';
import type { ChatLabels } from '../labels.js';
import { useAnswerLabels } from './answer-labels.js';
import { AnswerParts } from './answer-parts.js';
import { Boundary } from './boundary.js';
import type { AgentMessage, ChatMessage, UserMessage } from './chat-state.js';
import { CopyAnswer } from './copy-answer.js';
import { EndButton } from './end-button.js';
import { useGradually } from './gradually.js';
import { partsOf, type StoredMessage } from './message-parts.js';
import { piecesOfLines } from './pieces.js';
import { PlainMessage, PlainText } from './transcript.js';

const PersonIcon = icon(
  <>
    <circle cx="12" cy="8.5" r="3.5" />
    <path d="M5 19.5c1-3.3 3.6-5 7-5s6 1.7 7 5" />
  </>,
);

const MESSAGES_AT_ONCE = 50;
const PIECES_AT_ONCE = 2;

interface MessageListProps {
  readonly messages: readonly StoredMessage[];
  readonly isBusy: boolean;
  readonly mediaOrigins: readonly string[];
  readonly user: ChatUser | undefined;
  readonly renderMessage: A2AChatProps['renderMessage'];
  /** The element that scrolls, and the one that grows in it. */
  readonly log: RefObject<HTMLElement | null>;
  readonly content: RefObject<HTMLElement | null>;
}

/** The messages of a conversation, with their end in view. Loaded separately, since a page shows an empty chat first. */
export default function MessageList(props: MessageListProps) {
  const { messages, isBusy, mediaOrigins, user, renderMessage, log, content } = props;
  const { newConversation } = useAnswerLabels();
  const count = useGradually(messages.length, MESSAGES_AT_ONCE);
  const last = messages[messages.length - 1];
  const show = (message: ChatMessage): ReactElement =>
    message.role === 'user' ? (
      <Question message={message} user={user} />
    ) : (
      <AnswerBubble message={message} isGrowing={isBusy && message === last} mediaOrigins={mediaOrigins} />
    );
  return (
    <>
      {messages.slice(0, count).map((message) => (
        <Fragment key={message.id}>
          <Boundary fallback={<PlainMessage message={message} />}>
            {renderMessage === undefined ? (
              show(message)
            ) : (
              <Rendered {...{ message, shown: show(message), renderMessage }} />
            )}
          </Boundary>
          {message.endsConversation && <p className="a2a-divider">{newConversation}</p>}
        </Fragment>
      ))}
      {isBusy && last?.role === 'user' && <Thinking />}
      <EndButton {...{ last, log, content }} />
    </>
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

const Question = memo(function Question({
  message,
  user,
}: {
  readonly message: UserMessage;
  readonly user: ChatUser | undefined;
}) {
  const { text, fileName } = message;
  const { you } = useAnswerLabels();
  return (
    <div className="a2a-message a2a-message-user">
      <div className="a2a-bubble">
        <span className="a2a-hidden">{user?.name || you}: </span>
        {text !== '' && <Verbatim text={text} />}
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

/** A text as it was typed; of a long one, some pieces in each task. */
function Verbatim({ text }: { readonly text: string }) {
  const pieces = useMemo(() => piecesOfLines(text), [text]);
  const count = useGradually(pieces.length, PIECES_AT_ONCE);
  return pieces.slice(0, count).map((piece, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- the pieces do not move
    <p key={index} dir="auto">
      {piece}
    </p>
  ));
}

interface AnswerBubbleProps {
  readonly message: StoredMessage<AgentMessage>;
  readonly isGrowing: boolean;
  readonly mediaOrigins: readonly string[];
}

const AnswerBubble = memo(function AnswerBubble({ message, isGrowing, mediaOrigins }: AnswerBubbleProps) {
  const { state } = message;
  const labels = useAnswerLabels();
  const parts = partsOf(message);
  if (isGrowing && parts.length === 0) return <Thinking />;
  const note = noteOf(message, labels);
  return (
    <div className="a2a-message a2a-message-agent" data-state={isGrowing ? 'growing' : state}>
      <span className="a2a-avatar">
        <AgentIcon />
      </span>
      <div className="a2a-bubble" aria-busy={isGrowing}>
        <span className="a2a-hidden">{labels.agent}: </span>
        <Boundary fallback={<PlainText text={message.text} />}>
          <AnswerParts parts={parts} isGrowing={isGrowing} mediaOrigins={mediaOrigins} />
        </Boundary>
        {!isGrowing && note !== '' && <p className="a2a-note">{note}</p>}
        {!isGrowing && message.text !== '' && <CopyAnswer text={message.text} />}
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
  const { thinking } = useAnswerLabels();
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
