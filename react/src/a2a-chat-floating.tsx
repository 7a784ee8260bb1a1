import {
  forwardRef,
  type ForwardRefExoticComponent,
  type KeyboardEvent,
  type RefAttributes,
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
import { PlainTranscript } from './chat/transcript.js';
import type { A2AChatHandle, A2AChatProps } from './chat-props.js';
import { ChatIcon, CloseIcon } from './icons.js';
import { useCompleteLabels } from './labels.js';
import { useChat, useChatHandle } from './use-a2a-chat.js';

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
    const panel = useRef<HTMLDivElement>(null);
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

    // Moves the focus into the panel when it opens, back to the button when it closes; not when a page shows it again.
    useEffect(() => {
      if (movesFocus.current) (isOpen ? input : fab).current?.focus();
      movesFocus.current = false;
    }, [isOpen]);
    useEffect(() => {
      if (!wasOpened) return undefined;
      const loading = import('./chat/keyboard.js').then(
        ({ keepAboveKeyboard }) => keepAboveKeyboard(panel.current),
        () => undefined,
      );
      return () => void loading.then((stop) => stop?.());
    }, [wasOpened]);
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || isComposing(event)) return;
      event.stopPropagation();
      close();
    };

    return (
      <div {...rootAttributes(props, chat.brandCss)}>
        <div
          ref={panel}
          className="a2a-floating"
          id={panelId}
          role="dialog"
          aria-label={name}
          hidden={!isOpen}
          onKeyDown={onKeyDown}
        >
          {/* Stays mounted behind the button once opened. */}
          {wasOpened && (
            <Boundary fallback={<PlainTranscript messages={chat.messages} />}>
              <ChatPanel {...props} className={undefined} chat={chat} input={input} onClose={close} />
            </Boundary>
          )}
        </div>
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
