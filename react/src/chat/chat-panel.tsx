import { type RefObject, useId, useMemo, useReducer, useRef, useState } from 'react';

import type { A2AChatProps } from '../chat-props.js';
import { type ChatError, MESSAGES, report } from '../chat-error.js';
import { AgentIcon, CloseIcon, HistoryIcon, PlusIcon } from '../icons.js';
import { type ChatLabels, fill, LabelsContext, useCompleteLabels, wordsOf } from '../labels.js';
import { siteFetch } from '../site-fetch.js';
import type { A2AChatController } from '../use-a2a-chat.js';
import { useLatest } from '../use-latest.js';
import { useUserChange } from '../use-user-change.js';
import { useBrand } from './brand.js';
import type { ChatDraft, ChatPhase } from './chat-state.js';
import { Composer } from './composer.js';
import { later } from './later.js';
import { RetryButton } from './retry-button.js';
import { rootAttributes } from './root-attributes.js';
import { isTouch } from './touch.js';
import { Transcript } from './transcript.js';

const History = later(() => import('./history.js').then((loaded) => loaded.default));

interface ChatPanelProps extends A2AChatProps {
  readonly chat: A2AChatController;
  /** The text field, for code that opens the panel and moves the focus. */
  readonly input?: RefObject<HTMLTextAreaElement | null>;
  /** Called by the close button, which is shown only if this is set. */
  readonly onClose?: () => void;
}

/** The chat itself, inline or floating. */
export function ChatPanel({ chat, input, onClose, ...props }: ChatPanelProps) {
  const { serviceBaseUrl, panelTitle, suggestedPrompts = [], user, files = true, enterSends, renderMessage } = props;
  const labels = useCompleteLabels(props.labels);
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  const [changes, countChange] = useReducer((count: number) => count + 1, 0);
  useUserChange(user, countChange);
  const ownInput = useRef<HTMLTextAreaElement>(null);
  const textarea = input ?? ownInput;
  const log = useRef<HTMLDivElement>(null);
  const historyId = useId();
  const titleId = useId();
  const latest = useLatest(props);
  const site = useMemo(
    () => ({
      siteFetch: siteFetch(() => latest.current.headers),
      onError: (error: ChatError) => report(error, latest.current.onError),
    }),
    [latest],
  );
  useBrand(chat.brandCss);

  const send = (draft: ChatDraft): void => {
    setHistoryOpen(false);
    void chat.send(draft);
  };
  /** Moves the focus out of what disappears. In the field, it would open the keyboard of a phone. */
  const moveFocus = (): void => (isTouch() ? log : textarea).current?.focus();
  /** For a button that disappears. Moves the focus first, since the action may move it again, such as to a sign-in. */
  const fromField = (action: () => void) => (): void => {
    moveFocus();
    action();
  };
  const last = chat.messages[chat.messages.length - 1];
  const isAsked = last?.role === 'agent' && last.state.endsWith('-required');
  const canSignIn =
    props.onSignIn !== undefined &&
    chat.phase === 'idle' &&
    (chat.error?.message === MESSAGES.signedOut || (isAsked && last.state === 'auth-required'));

  return (
    <LabelsContext.Provider value={labels}>
      <section {...rootAttributes(props, chat.brandCss)} aria-labelledby={titleId}>
        <div className="a2a-panel">
          <header className="a2a-header">
            <h2 id={titleId}>{panelTitle ?? (chat.agentName || labels.chat)}</h2>
            {serviceBaseUrl !== undefined && (
              <button
                type="button"
                className="a2a-icon-button"
                aria-label={labels.earlierConversations}
                title={labels.earlierConversations}
                aria-expanded={isHistoryOpen}
                aria-controls={isHistoryOpen ? historyId : undefined}
                onClick={() => setHistoryOpen(!isHistoryOpen)}
              >
                <HistoryIcon />
              </button>
            )}
            <button
              type="button"
              className="a2a-icon-button"
              aria-label={labels.newConversation}
              title={labels.newConversation}
              disabled={chat.messages.length === 0}
              onClick={fromField(() => {
                chat.reset();
                setHistoryOpen(false);
              })}
            >
              <PlusIcon />
            </button>
            {onClose !== undefined && (
              <button
                type="button"
                className="a2a-icon-button"
                aria-label={labels.close}
                title={labels.close}
                onClick={onClose}
              >
                <CloseIcon />
              </button>
            )}
          </header>

          {isHistoryOpen && serviceBaseUrl !== undefined && (
            <History
              key={`${changes} ${user?.name}`}
              waiting={<p className="a2a-history a2a-quiet">{labels.loading}</p>}
              failed={
                <p className="a2a-history a2a-quiet" role="alert">
                  {labels.unreachable}
                </p>
              }
              id={historyId}
              serviceBaseUrl={serviceBaseUrl}
              {...site}
              currentId={chat.contextId}
              onOpen={(id, messages) => {
                chat.open(id, messages);
                setHistoryOpen(false);
                moveFocus();
              }}
              onDelete={(id) => {
                if (id === chat.contextId) chat.reset();
              }}
            />
          )}

          <Transcript
            chat={chat}
            log={log}
            user={user ?? undefined}
            renderMessage={renderMessage}
            linksTo={props.links}
            isSameTab={Boolean(props.keepOnReload)}
            welcome={
              <div className="a2a-welcome">
                <span className="a2a-welcome-icon">
                  <AgentIcon />
                </span>
                <p>{user?.name ? fill(labels.welcomeUser, { name: user.name.split(' ')[0] ?? '' }) : labels.welcome}</p>
              </div>
            }
          />

          <footer className="a2a-footer">
            <p className="a2a-status" role="status">
              {describePhase(chat.phase, labels)}
            </p>
            {/* Conditional, since WebKit does not show an element again that ":has(:empty)" has hidden. */}
            {(chat.error || chat.canRetry || canSignIn) && (
              <div className={chat.error && 'a2a-failure'}>
                {/* Without the button, whose countdown would be read each second. */}
                {chat.error && <p role="alert">{wordsOf(chat.error, labels, props.showCause)}</p>}
                {canSignIn ? (
                  <button type="button" className="a2a-button" onClick={fromField(() => void chat.signIn())}>
                    {labels.signIn}
                  </button>
                ) : (
                  chat.canRetry && <RetryButton error={chat.error} onRetry={fromField(() => void chat.retry())} />
                )}
              </div>
            )}
            {chat.messages.length === 0 && suggestedPrompts.length > 0 && (
              <div className="a2a-suggestions" role="group" aria-label={labels.suggestions}>
                {suggestedPrompts.map((text) => (
                  <button type="button" className="a2a-button" key={text} onClick={fromField(() => send({ text }))}>
                    {text}
                  </button>
                ))}
              </div>
            )}
            <Composer
              key={changes}
              phase={chat.phase}
              isAsked={isAsked}
              takesFiles={files}
              enterSends={enterSends}
              input={textarea}
              onSend={send}
              onStop={fromField(() => void chat.stop())}
            />
          </footer>
        </div>
      </section>
    </LabelsContext.Provider>
  );
}

/** Announces only the phases that a visitor cannot see; arriving text is visible. */
function describePhase(phase: ChatPhase, { reconnecting, stopping }: ChatLabels): string {
  if (phase === 'reconnecting') return reconnecting;
  if (phase === 'stopping') return stopping;
  return '';
}
