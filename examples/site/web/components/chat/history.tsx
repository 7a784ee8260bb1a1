import { useCallback, useEffect, useState } from 'react';

import type { ChatMessage } from './chat-state';
import {
  type ConversationEntry,
  deleteConversation,
  listConversations,
  readConversation,
} from './conversation-records';
import { describeFailure } from './failure';
import { TrashIcon } from './icons';
import './history.css';

interface HistoryProps {
  readonly id: string;
  readonly serviceBaseUrl: string;
  readonly currentId: string;
  readonly onOpen: (id: string, messages: readonly ChatMessage[]) => void;
  readonly onDelete: (id: string) => void;
}

/** The user's earlier conversations, to be opened again or deleted. */
export function History({ id, serviceBaseUrl, currentId, onOpen, onDelete }: HistoryProps) {
  const [entries, setEntries] = useState<readonly ConversationEntry[]>();
  const [failure, setFailure] = useState('');

  const attempt = useCallback(async (action: () => Promise<void>): Promise<void> => {
    setFailure('');
    await action().catch((error: unknown) => setFailure(describeFailure(error)));
  }, []);
  const load = useCallback(
    () => attempt(async () => setEntries(await listConversations(serviceBaseUrl))),
    [attempt, serviceBaseUrl],
  );
  useEffect(() => void load(), [load]);

  const open = (entry: ConversationEntry): Promise<void> =>
    attempt(async () => onOpen(entry.id, await readConversation(serviceBaseUrl, entry.id)));
  const remove = (entry: ConversationEntry): Promise<void> =>
    attempt(async () => {
      await deleteConversation(serviceBaseUrl, entry.id);
      onDelete(entry.id);
      await load();
    });

  return (
    <section className="a2a-history" id={id} aria-label="Earlier conversations" tabIndex={-1}>
      <p role="alert">{failure}</p>
      {entries === undefined && failure === '' && <p className="a2a-quiet">Loading…</p>}
      {entries?.length === 0 && <p className="a2a-quiet">There are no conversations yet.</p>}
      <ul>
        {entries?.map((entry) => (
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
              aria-label={`Delete ${entry.title}`}
              onClick={() => void remove(entry)}
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
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
