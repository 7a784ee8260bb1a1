import { type FormEvent, type KeyboardEvent, type RefObject, useId, useRef, useState } from 'react';

import type { ChatPhase } from './chat-state';
import { describeSize, MAX_FILE, refusalOf } from './file-part';
import type { Draft } from './chat-session';
import { ClipIcon, CloseIcon, FileIcon, SendIcon, StopIcon } from './icons';
import './composer.css';

interface ComposerProps {
  readonly phase: ChatPhase;
  readonly input: RefObject<HTMLTextAreaElement | null>;
  readonly onSend: (draft: Draft) => void;
  readonly onStop: () => void;
}

/** Where the visitor writes, attaches a file, sends and stops. */
export function Composer({ phase, input, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const [file, setFile] = useState<File>();
  const fileInput = useRef<HTMLInputElement>(null);
  const hintId = useId();
  const isIdle = phase === 'idle';
  const refused = file && refusalOf(file);
  const canSend = isIdle && refused === undefined && (text.trim() !== '' || file !== undefined);

  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (!canSend) return;
    onSend({ text: text.trim(), file });
    setText('');
    setFile(undefined);
    input.current?.focus(); // the button that was pressed is gone
  };
  const stop = (): void => {
    onStop();
    input.current?.focus(); // here too
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    // Enter also confirms a word in input methods for Chinese, Japanese and Korean: that one is not a "send".
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  const chooseFile = (files: FileList | null): void => {
    setFile(files?.[0]);
    input.current?.focus();
  };
  const removeFile = (): void => {
    setFile(undefined);
    input.current?.focus();
  };

  return (
    <form className="a2a-composer" onSubmit={send}>
      {file !== undefined && (
        <div className="a2a-attachment" data-refused={refused !== undefined}>
          <FileIcon />
          <span className="a2a-attachment-name">{file.name}</span>
          <span>{describeSize(file.size)}</span>
          <button type="button" className="a2a-icon-button" aria-label={`Remove ${file.name}`} onClick={removeFile}>
            <CloseIcon />
          </button>
        </div>
      )}
      <p className="a2a-refusal" role="alert" id={hintId}>
        {refused}
      </p>
      <div className="a2a-composer-row">
        <input
          ref={fileInput}
          type="file"
          hidden
          aria-label="File"
          // Reset, so that choosing the same file again is a choice too.
          onClick={(event) => (event.currentTarget.value = '')}
          onChange={(event) => chooseFile(event.currentTarget.files)}
        />
        <button
          type="button"
          className="a2a-icon-button"
          aria-label={`Attach a file of up to ${describeSize(MAX_FILE)}`}
          title={`Attach a file of up to ${describeSize(MAX_FILE)}`}
          onClick={() => fileInput.current?.click()}
        >
          <ClipIcon />
        </button>
        <textarea
          ref={input}
          rows={1}
          aria-label="Message"
          aria-describedby={refused === undefined ? undefined : hintId}
          placeholder="Write a message…"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {isIdle ? (
          <button type="submit" className="a2a-send" aria-label="Send" title="Send" disabled={!canSend} key="send">
            <SendIcon />
          </button>
        ) : (
          <button
            type="button"
            className="a2a-send a2a-stop"
            aria-label="Stop"
            title="Stop"
            disabled={phase === 'stopping'}
            onClick={stop}
            key="stop"
          >
            <StopIcon />
          </button>
        )}
      </div>
    </form>
  );
}
