import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { type ChatError, toChatError } from '../chat-error.js';
import { icon } from '../icons.js';
import { fill, useLabels, wordsOf } from '../labels.js';
import type { ChatMessage } from './chat-state.js';
import { type ConversationEntry, ConversationRecords } from './conversation-records.js';
import { useGradually } from './gradually.js';

/** The English labels of the history, which are loaded with it. */
const HISTORY_LABELS = {
  noConversations: 'There are no conversations yet.',
  deleteConversation: 'Delete {title}',
};

export type HistoryLabel = keyof typeof HISTORY_LABELS;

const TrashIcon = icon(
  <path d="M5 7.5h14m-9-3h4m-7.5 3 .8 11a1.5 1.5 0 0 0 1.5 1.4h4.4a1.5 1.5 0 0 0 1.5-1.4l.8-11" />,
);

const ENTRIES_AT_ONCE = 50;

interface HistoryProps {
  readonly id: string;
  readonly serviceBaseUrl: string;
  readonly siteFetch: typeof fetch;
  readonly onError: (error: ChatError) => void;
  readonly currentId: string;
  readonly onOpen: (id: string, messages: readonly ChatMessage[]) => void;
  readonly onDelete: (id: string) => void;
}

/** The user's earlier conversations, to be opened again or deleted. Loaded when it is opened. */
export default function History({ id, serviceBaseUrl, siteFetch, onError, currentId, onOpen, onDelete }: HistoryProps) {
  const labels = { ...HISTORY_LABELS, ...useLabels() };
  const [entries, setEntries] = useState<readonly ConversationEntry[]>();
  const [error, setError] = useState<ChatError>();
  const count = useGradually(entries?.length ?? 0, ENTRIES_AT_ONCE);
  const records = useMemo(() => new ConversationRecords(serviceBaseUrl, siteFetch), [serviceBaseUrl, siteFetch]);

  const attempt = useCallback(
    async (action: () => Promise<void>): Promise<void> => {
      setError(undefined);
      await action().catch((cause: unknown) => {
        const failure = toChatError(cause);
        setError(failure);
        onError(failure);
      });
    },
    [onError],
  );
  const load = useCallback(() => attempt(async () => setEntries(await records.list())), [attempt, records]);
  useEffect(() => void load(), [load]);

  const chosen = useRef<ConversationEntry>(undefined);
  useEffect(() => () => void (chosen.current = undefined), []);
  const open = (entry: ConversationEntry): Promise<void> =>
    attempt(async () => {
      chosen.current = entry;
      const messages = await records.read(entry.id);
      // Meanwhile the visitor may have chosen another one, or gone on with the one that is shown.
      if (chosen.current === entry) onOpen(entry.id, messages);
    });
  const isRemoving = useRef(false);
  const remove = async (entry: ConversationEntry, button: HTMLElement): Promise<void> => {
    if (isRemoving.current) return;
    isRemoving.current = true;
    await attempt(async () => {
      await records.delete(entry.id);
      if (button.matches(':focus')) button.closest('section')?.focus(); // the button will be gone
      onDelete(entry.id);
      await load();
    });
    isRemoving.current = false;
  };

  return (
    <section className="a2a-history" id={id} aria-label={labels.earlierConversations} tabIndex={-1}>
      <p role="alert">{error && wordsOf(error, labels)}</p>
      {entries === undefined && error === undefined && <p className="a2a-quiet">{labels.loading}</p>}
      {entries?.length === 0 && <p className="a2a-quiet">{labels.noConversations}</p>}
      <ul>
        {entries?.slice(0, count).map((entry) => (
          <li key={entry.id}>
            <button
              type="button"
              className="a2a-entry"
              aria-current={entry.id === currentId}
              onClick={() => void open(entry)}
            >
              <span>{entry.title}</span>
              <time dateTime={entry.updatedAt}>{describeTime(entry.updatedAt)}</time>
            </button>
            <button
              type="button"
              className="a2a-icon-button"
              aria-label={fill(labels.deleteConversation, { title: entry.title })}
              onClick={({ currentTarget }) => void remove(entry, currentTarget)}
            >
              <TrashIcon />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function describeTime(time: string): string {
  if (Number.isNaN(Date.parse(time))) return '';
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
