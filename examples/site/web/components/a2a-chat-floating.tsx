import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';

import type { A2AChatProps } from './chat/chat-props';
import { ChatPanel } from './chat/chat-panel';
import { ChatIcon, CloseIcon } from './chat/icons';
import './a2a-chat-floating.css';

export interface A2AChatFloatingProps extends A2AChatProps {
  /** Class names for the button that opens the chat. */
  readonly fabClassName?: string;
}

/**
 * The chat behind a button in the corner of the window. Closing it leaves the conversation as it is.
 *
 * @example
 * ```tsx
 * <A2AChatFloating panelTitle="Ask us" fabClassName="shop-chat-button" />
 * ```
 */
export function A2AChatFloating({ fabClassName = '', ...chat }: A2AChatFloatingProps) {
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setOpened] = useState(false);
  const fab = useRef<HTMLButtonElement>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const panelId = useId();

  // Into the panel when it opens, back to the button when it closes.
  useEffect(() => {
    if (isOpen) input.current?.focus();
    else if (wasOpened) fab.current?.focus();
  }, [isOpen, wasOpened]);
  const toggle = (): void => {
    setOpened(true);
    setOpen(!isOpen);
  };
  const close = (): void => setOpen(false);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    event.stopPropagation();
    close();
  };

  return (
    <>
      <div
        className="a2a-floating"
        id={panelId}
        role="dialog"
        aria-label={chat.panelTitle ?? 'Chat'}
        hidden={!isOpen}
        onKeyDown={onKeyDown}
      >
        {/* Nothing is loaded for a visitor who never opens it; once open, it lives on behind the button. */}
        {wasOpened && <ChatPanel {...chat} input={input} onClose={close} />}
      </div>
      <button
        ref={fab}
        type="button"
        className={`a2a-fab ${fabClassName}`}
        aria-label={chat.panelTitle ?? 'Chat'}
        aria-expanded={isOpen}
        aria-controls={panelId}
        onClick={toggle}
      >
        {isOpen ? <CloseIcon /> : <ChatIcon />}
      </button>
    </>
  );
}
