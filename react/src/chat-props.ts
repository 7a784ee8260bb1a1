import type { ReactElement, ReactNode } from 'react';

import type { AgentMessage, ChatDraft, ChatMessage } from './chat/chat-state.js';
import type { ChatError } from './chat-error.js';
import type { ChatLabels } from './labels.js';
import type { SiteHeaders } from './site-fetch.js';

/**
 * The signed-in user, as session libraries describe one.
 *
 * @public
 */
export interface ChatUser {
  /** Greets the user, and names them to screen readers. Default: nobody is greeted. */
  readonly name?: string | null | undefined;
  /** Address of the avatar beside the user's messages. Default: an icon. */
  readonly picture?: string | null | undefined;
}

/**
 * Where a chat finds its agent, and what it tells the page. Each field may be left out or undefined.
 *
 * @public
 */
export interface ChatOptions {
  /** The site's chat route. Default `/api/a2a`. */
  readonly a2aEndpoint?: string | undefined;
  /** The site's configuration route. Default: `config` below the chat route, so `/api/a2a/config`. */
  readonly configEndpoint?: string | undefined;
  /** Header fields for every request of the chat. Default none: the browser sends the site's cookies by itself. */
  readonly headers?: SiteHeaders | undefined;
  /** Called with every failure, also when it is shown. Default: failures are only shown. */
  readonly onError?: ((error: ChatError) => void) | undefined;
  /**
   * How long a task may work on after its stream has ended, in milliseconds: the chat asks the agent for it meanwhile.
   * Default 600,000.
   */
  readonly taskTimeoutMs?: number | undefined;
  /**
   * The site's way to have the visitor sign in, called by a button when the agent or the site wants that; `message` is the
   * agent's. When it resolves, the chat goes on. Default: the chat only says that a sign-in is needed.
   *
   * @example
   * ```tsx
   * <A2AChat onSignIn={() => openPopup('/connect/calendar')} />
   * ```
   */
  readonly onSignIn?: ((message: AgentMessage | undefined) => unknown) | undefined;
  /**
   * Whether the conversation goes on after a reload, and on the site's next page, in the same tab. It is kept in
   * `sessionStorage` for anybody who uses that tab: for visitors, not for signed-in users. Default false.
   */
  readonly keepOnReload?: boolean | undefined;
}

/**
 * Props of `A2AChat`. Each may be left out or undefined.
 *
 * @public
 */
export interface A2AChatProps extends ChatOptions {
  /** The site's proxy for conversation records, such as `/api/service`. Default: the chat has no history. */
  readonly serviceBaseUrl?: string | undefined;
  /** The title of the chat. Default: the agent's name. */
  readonly panelTitle?: string | undefined;
  /** Messages to begin with, one click each. Default none. */
  readonly suggestedPrompts?: readonly string[] | undefined;
  /** The signed-in user. Default: nobody is. */
  readonly user?: ChatUser | null | undefined;
  /** Whether files can be attached. Default true. */
  readonly files?: boolean | undefined;
  /** The colours. Default `auto`, which is what the visitor's system prefers. */
  readonly colorScheme?: 'auto' | 'light' | 'dark' | undefined;
  /** Texts in place of the English ones. Default: all of them English. */
  readonly labels?: Partial<ChatLabels> | undefined;
  /** Direction of the texts. Default: the page's. */
  readonly dir?: 'ltr' | 'rtl' | 'auto' | undefined;
  /** Class names for the outermost element, for custom properties of the theme. Default none. */
  readonly className?: string | undefined;
  /**
   * Shows one message; `shown` is what the chat would show. Default: `shown`.
   *
   * @example
   * ```tsx
   * <A2AChat renderMessage={(message, shown) => <div data-message={message.id}>{shown}</div>} />
   * ```
   */
  readonly renderMessage?: ((message: ChatMessage, shown: ReactElement) => ReactNode) | undefined;
}

/**
 * What a page can do with a chat it holds a `ref` of.
 *
 * @example
 * ```tsx
 * const chat = useRef<A2AChatHandle>(null);
 * const help = () => chat.current?.send('Where is my parcel?');
 * <A2AChat ref={chat} />;
 * ```
 *
 * @public
 */
export interface A2AChatHandle {
  /** Sends a message; resolves when the answer is complete or has failed. Does nothing while another one is being read. */
  readonly send: (message: string | ChatDraft) => Promise<void>;
  /** Asks the agent to stop working on the current message. */
  readonly stop: () => Promise<void>;
  /** Starts a new conversation. */
  readonly reset: () => void;
}
