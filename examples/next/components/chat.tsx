'use client';

import { type FormEvent, useRef, useState } from 'react';
import { streamAnswer } from '../lib/stream-answer';

interface Turn {
  readonly author: 'visitor' | 'agent';
  readonly text: string;
}

/** A chat that shows the answer while it streams; `endpoint` is a route of this site. */
export function Chat({ endpoint }: Readonly<{ endpoint: string }>) {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [error, setError] = useState('');
  const [running, setRunning] = useState<AbortController>();
  const input = useRef<HTMLInputElement>(null);

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    const text = input.current?.value.trim() ?? '';
    if (text === '' || input.current === null) return;
    input.current.value = '';
    const abort = new AbortController();
    setRunning(abort);
    setError('');
    setTurns((before) => [...before, { author: 'visitor', text }, { author: 'agent', text: '' }]);
    try {
      for await (const words of streamAnswer(endpoint, text, abort.signal)) {
        setTurns((before) =>
          before.map((turn, at) => (at < before.length - 1 ? turn : { ...turn, text: turn.text + words })),
        );
      }
    } catch (failure) {
      if (!abort.signal.aborted) setError(failure instanceof Error ? failure.message : 'The chat failed.');
    } finally {
      setRunning(undefined);
    }
  }

  return (
    <section aria-label="Chat">
      <ol aria-live="polite">
        {turns.map(({ author, text }, at) => (
          <li key={at} className={author}>
            {text}
          </li>
        ))}
      </ol>
      {error === '' ? null : <p role="alert">{error}</p>}
      <form onSubmit={(event) => void send(event)}>
        <input ref={input} aria-label="Message" placeholder="Message" disabled={running !== undefined} />
        {running === undefined ? (
          <button>Send</button>
        ) : (
          <button type="button" onClick={() => running.abort()}>
            Stop
          </button>
        )}
      </form>
    </section>
  );
}
