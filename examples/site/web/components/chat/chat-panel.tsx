import { type RefObject, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';

import type { A2AChatProps } from './chat-props';
import { ChatSession, type Draft } from './chat-session';
import type { ChatPhase } from './chat-state';
import { Composer } from './composer';
import { History } from './history';
import { AgentIcon, CloseIcon, HistoryIcon, PlusIcon } from './icons';
import { Transcript } from './transcript';
import './chat.css';

export interface ChatPanelProps extends A2AChatProps {
  /** Where the visitor writes: for who opens the panel and puts the focus there. */
  readonly input?: RefObject<HTMLTextAreaElement | null>;
  /** Makes the panel one that can be closed. */
  readonly onClose?: () => void;
}

/** The chat itself, for every place it can be in. */
export function ChatPanel({
  a2aEndpoint = '/api/a2a',
  configEndpoint = '/api/a2a/config',
  serviceBaseUrl,
  panelTitle,
  suggestedPrompts = [],
  user,
  input,
  onClose,
}: ChatPanelProps) {
  const [session] = useState(() => new ChatSession({ a2aEndpoint, configEndpoint }));
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const [isHistoryOpen, setHistoryOpen] = useState(false);
  const ownInput = useRef<HTMLTextAreaElement>(null);
  const textarea = input ?? ownInput;
  const historyId = useId();
  const titleId = useId();

  useEffect(() => {
    void session.prepare();
    return session.leave;
  }, [session]);

  const send = (draft: Draft): void => {
    setHistoryOpen(false);
    void session.send(draft);
  };
  const suggest = (text: string): void => {
    send({ text });
    textarea.current?.focus(); // the suggestion that was chosen is gone
  };
  const startNew = (): void => {
    session.reset();
    setHistoryOpen(false);
    textarea.current?.focus();
  };

  return (
    <section className="a2a-panel" aria-labelledby={titleId}>
      {/* A style element takes text, never markup: a brand cannot close it and go on as a page. */}
      {state.brandCss !== '' && <style>{state.brandCss}</style>}
      <header className="a2a-header">
        <h2 id={titleId}>{panelTitle ?? (state.agentName || 'Chat')}</h2>
        {serviceBaseUrl !== undefined && (
          <button
            type="button"
            className="a2a-icon-button"
            aria-label="Earlier conversations"
            title="Earlier conversations"
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
          aria-label="New conversation"
          title="New conversation"
          disabled={state.messages.length === 0}
          onClick={startNew}
        >
          <PlusIcon />
        </button>
        {onClose !== undefined && (
          <button
            type="button"
            className="a2a-icon-button"
            aria-label="Close chat"
            title="Close chat"
            onClick={onClose}
          >
            <CloseIcon />
          </button>
        )}
      </header>

      {isHistoryOpen && serviceBaseUrl !== undefined && (
        <History
          id={historyId}
          serviceBaseUrl={serviceBaseUrl}
          currentId={state.contextId}
          onOpen={(id, messages) => {
            session.open(id, messages);
            setHistoryOpen(false);
            textarea.current?.focus();
          }}
          onDelete={(id) => {
            if (id === state.contextId) session.reset();
          }}
        />
      )}

      <Transcript
        state={state}
        user={user}
        welcome={
          <div className="a2a-welcome">
            <span className="a2a-welcome-icon">
              <AgentIcon />
            </span>
            <p>How can I help{user === undefined ? '' : `, ${user.name.split(' ')[0]}`}?</p>
          </div>
        }
      />

      <footer className="a2a-footer">
        <p className="a2a-status" role="status">
          {describePhase(state.phase)}
        </p>
        <div className="a2a-failure" role="alert">
          {state.failure !== '' && <p>{state.failure}</p>}
          {state.canRetry && (
            <button type="button" className="a2a-button" onClick={() => void session.retry()}>
              Retry
            </button>
          )}
        </div>
        {state.messages.length === 0 && suggestedPrompts.length > 0 && (
          <div className="a2a-suggestions" role="group" aria-label="Suggestions">
            {suggestedPrompts.map((text) => (
              <button type="button" className="a2a-button" key={text} onClick={() => suggest(text)}>
                {text}
              </button>
            ))}
          </div>
        )}
        <Composer phase={state.phase} input={textarea} onSend={send} onStop={() => void session.stop()} />
      </footer>
    </section>
  );
}

/** Only what a visitor would wonder about: that words are coming can be seen. */
function describePhase(phase: ChatPhase): string {
  if (phase === 'reconnecting') return 'Reconnecting…';
  if (phase === 'stopping') return 'Stopping…';
  return '';
}
