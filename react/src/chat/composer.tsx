import { type KeyboardEvent, type RefObject, type SyntheticEvent, useId, useRef, useState } from 'react';

import { ClipIcon, CloseIcon, FileIcon, SendIcon, StopIcon } from '../icons.js';
import { describeSize, fill, useLabels } from '../labels.js';
import type { ChatDraft, ChatPhase } from './chat-state.js';
import { isComposing } from './composing.js';
import { isTooLarge, MAX_FILE_BYTES } from './file-part.js';
import { isTouch } from './touch.js';

interface ComposerProps {
  readonly phase: ChatPhase;
  /** The agent waits for a reply. */
  readonly isAsked: boolean;
  readonly takesFiles: boolean;
  readonly enterSends: boolean | undefined;
  readonly input: RefObject<HTMLTextAreaElement | null>;
  readonly onSend: (draft: ChatDraft) => void;
  readonly onStop: () => void;
}

/** The form in which the visitor writes, attaches a file, sends and stops. */
export function Composer({ phase, isAsked, takesFiles, enterSends, input, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const [file, setFile] = useState<File>();
  const fileInput = useRef<HTMLInputElement>(null);
  const hintId = useId();
  const isIdle = phase === 'idle';
  const labels = useLabels();
  const limit = describeSize(MAX_FILE_BYTES);
  const refused =
    file !== undefined && isTooLarge(file)
      ? fill(labels.fileTooLarge, { file: file.name, size: describeSize(file.size), limit })
      : undefined;
  const attachLabel = fill(labels.attachFile, { limit });
  const canSend = isIdle && refused === undefined && (text.trim() !== '' || file !== undefined);

  const send = (event: SyntheticEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    if (!canSend) return;
    onSend({ text: text.trim(), file });
    setText('');
    setFile(undefined);
    input.current?.focus(); // the button that was pressed is gone
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.altKey || isComposing(event)) return;
    if (event.ctrlKey || event.metaKey || (enterSends ?? !isTouch())) send(event);
  };
  const chooseFile = (files: FileList | null): void => {
    setFile(files?.[0]);
    input.current?.focus();
  };

  // A form of the site around the chat, or around its portal, would take these events for its own.
  return (
    <form className="a2a-composer" data-asked={isAsked} onSubmit={send} onChange={(event) => event.stopPropagation()}>
      {file !== undefined && (
        <div className="a2a-attachment" data-refused={refused !== undefined}>
          <FileIcon />
          <span className="a2a-attachment-name">{file.name}</span>
          <span>{describeSize(file.size)}</span>
          <button
            type="button"
            className="a2a-icon-button"
            aria-label={fill(labels.removeFile, { file: file.name })}
            onClick={() => chooseFile(null)}
          >
            <CloseIcon />
          </button>
        </div>
      )}
      <p className="a2a-refusal" role="alert" id={hintId}>
        {refused}
      </p>
      <div className="a2a-composer-row">
        {takesFiles && (
          <>
            <input
              ref={fileInput}
              type="file"
              hidden
              aria-label={labels.file}
              // Reset, so that choosing the same file again fires an event.
              onClick={(event) => (event.currentTarget.value = '')}
              onChange={(event) => chooseFile(event.currentTarget.files)}
            />
            <button
              type="button"
              className="a2a-icon-button"
              aria-label={attachLabel}
              title={attachLabel}
              onClick={() => fileInput.current?.click()}
            >
              <ClipIcon />
            </button>
          </>
        )}
        <div data-text={text.slice(0, 2000)}>
          <textarea
            ref={input}
            rows={1}
            aria-label={labels.message}
            aria-describedby={refused === undefined ? undefined : hintId}
            placeholder={isAsked ? labels.replyPlaceholder : labels.placeholder}
            autoComplete="off"
            dir="auto"
            enterKeyHint={enterSends ? 'send' : undefined}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        {isIdle ? (
          <button type="submit" className="a2a-send" aria-label={labels.send} title={labels.send} disabled={!canSend}>
            <SendIcon />
          </button>
        ) : (
          <button
            type="button"
            className="a2a-send a2a-stop"
            aria-label={labels.stop}
            title={labels.stop}
            disabled={phase === 'stopping'}
            onClick={onStop}
            key="stop"
          >
            <StopIcon />
          </button>
        )}
      </div>
    </form>
  );
}
