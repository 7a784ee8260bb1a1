import {
  forwardRef,
  type ForwardRefExoticComponent,
  type KeyboardEvent,
  type RefAttributes,
  type SyntheticEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';

import { useBrand } from './chat/brand.js';
import { Boundary, inBoundary } from './chat/boundary.js';
import { ChatPanel } from './chat/chat-panel.js';
import { isComposing } from './chat/composing.js';
import { rootAttributes } from './chat/root-attributes.js';
import { liftOut } from './chat/top-layer.js';
import { PlainTranscript } from './chat/transcript.js';
import type { A2AChatHandle, A2AChatProps } from './chat-props.js';
import { ChatIcon, CloseIcon } from './icons.js';
import { useCompleteLabels } from './labels.js';
import { useChat, useChatHandle } from './use-a2a-chat.js';
import { useBrowserLayoutEffect } from './use-latest.js';

/**
 * Props of `A2AChatFloating`. Each may be omitted or undefined.
 *
 * @public
 */
export interface A2AChatFloatingProps extends A2AChatProps {
  /** Class names for the button that opens the chat. Default none. */
  readonly fabClassName?: string | undefined;
}

/**
 * Controls a floating chat through its `ref`.
 *
 * @public
 */
export interface A2AChatFloatingHandle extends A2AChatHandle {
  /** Opens the chat, as its button does. */
  readonly open: () => void;
  /** Closes the chat; its conversation is kept. */
  readonly close: () => void;
}

const FloatingChat: ForwardRefExoticComponent<A2AChatFloatingProps & RefAttributes<A2AChatFloatingHandle>> = forwardRef(
  function A2AChatFloating({ fabClassName = '', ...props }: A2AChatFloatingProps, ref) {
    const [isOpen, setOpen] = useState(false);
    const [wasOpened, setOpened] = useState(false);
    const fab = useRef<HTMLButtonElement>(null);
    const root = useRef<HTMLDivElement>(null);
    const panel = useRef<HTMLDialogElement>(null);
    const input = useRef<HTMLTextAreaElement>(null);
    const panelId = useId();
    const chat = useChat(props, wasOpened);
    const labels = useCompleteLabels(props.labels);
    const name = props.panelTitle ?? labels.chat;
    useBrand(chat.brandCss);

    const movesFocus = useRef(false);
    const open = (): void => {
      movesFocus.current = true;
      setOpened(true);
      setOpen(true);
    };
    const close = (): void => {
      movesFocus.current = true;
      setOpen(false);
    };
    useChatHandle(ref, chat, {
      open,
      close: () => {
        close();
        // The visitor may be in a field of the page.
        movesFocus.current = panel.current?.matches(':focus-within') === true;
      },
    });

    useBrowserLayoutEffect(() => {
      if (root.current !== null) liftOut(root.current);
    }, [isOpen]);
    // Moves the focus into the panel when it opens, back to the button when it closes; not when a page shows it again.
    useEffect(() => {
      if (movesFocus.current) (isOpen ? input : fab).current?.focus();
      movesFocus.current = false;
    }, [isOpen]);
    useEffect(() => {
      if (!isOpen) return undefined;
      let stop: (() => void) | undefined;
      let isGone = false;
      import('./chat/filled-window.js')
        .then(({ fillWindow }) => {
          if (!isGone && panel.current !== null) stop = fillWindow(panel.current);
        })
        .catch(() => undefined); // also in jsdom, which has no modal dialogs
      return () => {
        isGone = true;
        stop?.();
      };
    }, [isOpen]);
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.preventDefault(); // the browser would close a modal dialog, also while a word is composed
      if (isComposing(event)) return;
      event.stopPropagation();
      close();
    };
    /** The "back" of a phone. A file field reports under this name that no file was chosen. */
    const onCancel = (event: SyntheticEvent): void => {
      if (event.target !== event.currentTarget) return;
      event.preventDefault();
      close();
    };

    return (
      <div ref={root} {...rootAttributes(props, chat.brandCss)}>
        <dialog
          ref={panel}
          open
          className="a2a-floating"
          id={panelId}
          aria-label={name}
          hidden={!isOpen}
          onKeyDown={onKeyDown}
          onCancel={onCancel}
          onClose={() => panel.current?.open === false && setOpen(false)}
        >
          {/* Stays mounted behind the button once opened. */}
          {wasOpened && (
            <Boundary fallback={<PlainTranscript messages={chat.messages} closing={[labels.close, close]} />}>
              <ChatPanel {...props} className={undefined} chat={chat} input={input} onClose={close} />
            </Boundary>
          )}
        </dialog>
        <button
          ref={fab}
          type="button"
          className={`a2a-fab ${fabClassName}`}
          aria-label={name}
          aria-expanded={isOpen}
          aria-controls={panelId}
          onClick={isOpen ? close : open}
        >
          {isOpen ? <CloseIcon /> : <ChatIcon />}
        </button>
      </div>
    );
  },
);

/**
 * The chat behind a button in the corner of the window. It sends no request until it is opened, and closing it keeps
 * the conversation.
 *
 * @example
 * ```tsx
 * <A2AChatFloating panelTitle="Ask us" fabClassName="shop-chat-button" />
 * ```
 *
 * @public
 */
export const A2AChatFloating: ForwardRefExoticComponent<A2AChatFloatingProps & RefAttributes<A2AChatFloatingHandle>> =
  inBoundary(FloatingChat);
