import type { ReactElement, ReactNode } from 'react';

import type { AgentMessage, ChatDraft, ChatMessage } from './chat/chat-state.js';
import type { ChatError } from './chat-error.js';
import type { ChatLabels } from './labels.js';
import type { SiteHeaders } from './site-fetch.js';

/**
 * The signed-in user, as returned by session libraries.
 *
 * @public
 */
export interface ChatUser {
  /** Used in the greeting, and as the user's name for screen readers. Default: no greeting. */
  readonly name?: string | null | undefined;
  /** Address of the avatar beside the user's messages. Default: an icon. */
  readonly picture?: string | null | undefined;
}

/**
 * The addresses of the agent's routes, and callbacks. Each field may be omitted or undefined.
 *
 * @public
 */
export interface ChatOptions {
  /** The site's chat route. Default `/api/a2a`, in Next below the site's `basePath`. */
  readonly a2aEndpoint?: string | undefined;
  /** The site's configuration route. Default: `config` below the chat route, so `/api/a2a/config`. */
  readonly configEndpoint?: string | undefined;
  /** Header fields for every request of the chat. Default none: the browser sends the site's cookies by itself. */
  readonly headers?: SiteHeaders | undefined;
  /** Called with every failure, including those shown in the chat. Default: failures are only shown. */
  readonly onError?: ((error: ChatError) => void) | undefined;
  /** Time limit for polling a task that continues after its stream has ended, in milliseconds. Default 600,000. */
  readonly taskTimeoutMs?: number | undefined;
  /**
   * Signs the visitor in, when the agent or the site requires it: a button calls it with the agent's message, and the chat
   * continues once it resolves. `claims` is the text to send as the parameter `claims` of the sign-in, such as for a
   * second factor; undefined if the provider requests none. Default: the chat shows that a sign-in is needed, without a button.
   *
   * @example
   * ```tsx
   * <A2AChat onSignIn={() => window.open('/connect/calendar')} />
   * ```
   */
  readonly onSignIn?:
    ((message: AgentMessage | undefined, request: { readonly claims: string | undefined }) => unknown) | undefined;
  /**
   * Returns a description of the page, such as its address or the selected text. Called for each message, and sent as
   * `pageContext` in its `metadata`. Visitors can change it, so agents must not trust it. JSON of at most 16 KB; a
   * longer one is left out and reported to `onError`. Where conversations belong to visitors, the site's route needs
   * `visitorMetadata: ['pageContext']`. Default none.
   *
   * @example
   * ```tsx
   * <A2AChat context={() => ({ url: location.href, selection: String(getSelection()) })} />
   * ```
   */
  readonly context?: (() => unknown) | undefined;
  /**
   * True to continue the conversation after a reload, and on the site's next page, in the same tab. A name, such as
   * `help`, keeps it apart from those of other chats with the same agent. It is stored in `sessionStorage`, where everyone
   * who uses that tab can read it: for visitors, not for signed-in users. Default false.
   */
  readonly keepOnReload?: boolean | string | undefined;
}

/**
 * Props of `A2AChat`. Each may be omitted or undefined.
 *
 * @public
 */
export interface A2AChatProps extends ChatOptions {
  /** The site's proxy for conversation records, such as `/api/service`. Default: the chat has no history. */
  readonly serviceBaseUrl?: string | undefined;
  /** The title of the chat. Default: the agent's name. */
  readonly panelTitle?: string | undefined;
  /** Suggested first messages, sent with one click. Default none. */
  readonly suggestedPrompts?: readonly string[] | undefined;
  /** The signed-in user. A new conversation begins when it changes to none or another. Default: not signed in. */
  readonly user?: ChatUser | null | undefined;
  /**
   * The links that answers may contain. `web`: addresses that begin with `https://`, `http://`, `mailto:` or `tel:`.
   * `site`: also pages of the site, which begin with `/`, `?` or `#`; with `keepOnReload` they, and addresses of the
   * site's own origin, open in the same tab. An agent chooses the address, so no GET of the site may change anything.
   * Default `web`.
   */
  readonly links?: 'web' | 'site' | undefined;
  /** True if files can be attached. Default true. */
  readonly files?: boolean | undefined;
  /**
   * True if Return sends the message, false if it makes a new line. Shift+Return always makes one, and Ctrl or ⌘ with
   * Return always sends. Default: Return sends, except on a touch screen.
   */
  readonly enterSends?: boolean | undefined;
  /** The colours. Default `auto`: those of the page's `color-scheme`, which are light if it sets none. */
  readonly colorScheme?: 'auto' | 'light' | 'dark' | undefined;
  /** True to also show the cause of a failure, for developers while they build a site. Default false. */
  readonly showCause?: boolean | undefined;
  /** Replacements for the English texts. Default: all in English. */
  readonly labels?: Partial<ChatLabels> | undefined;
  /** Direction of the texts. Default: the page's. */
  readonly dir?: 'ltr' | 'rtl' | 'auto' | undefined;
  /** Class names for the outermost element, for custom properties of the theme. Default none. */
  readonly className?: string | undefined;
  /**
   * Renders one message; `shown` is the chat's own rendering. Default: `shown`.
   *
   * @example
   * ```tsx
   * <A2AChat renderMessage={(message, shown) => <div data-message={message.id}>{shown}</div>} />
   * ```
   */
  readonly renderMessage?: ((message: ChatMessage, shown: ReactElement) => ReactNode) | undefined;
}

/**
 * Controls a chat through its `ref`.
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
  /** Sends a message; resolves when the answer is complete or has failed. Does nothing while another answer is being received. */
  readonly send: (message: string | ChatDraft) => Promise<void>;
  /** Asks the agent to stop working on the current message. */
  readonly stop: () => Promise<void>;
  /** Starts a new conversation. */
  readonly reset: () => void;
}
