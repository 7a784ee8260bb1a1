import { type Ref, useEffect, useImperativeHandle, useMemo, useSyncExternalStore } from 'react';

import { basePath, withoutSlash } from './base-path.js';
import { ChatSession } from './chat/chat-session.js';
import type { ChatMessage, ChatState } from './chat/chat-state.js';
import type { A2AChatHandle, A2AChatProps, ChatOptions } from './chat-props.js';
import { siteFetch } from './site-fetch.js';
import { useBrowserLayoutEffect, useLatest } from './use-latest.js';
import { useUserChange } from './use-user-change.js';

/**
 * A headless chat: its state, and its actions.
 *
 * @public
 */
export interface A2AChatController extends ChatState, A2AChatHandle {
  /**
   * Repeats the failed attempt. After an answer that failed or was stopped, asks its question again, in place of both.
   * Does nothing unless `canRetry`.
   */
  readonly retry: () => Promise<void>;
  /**
   * Calls `onSignIn`, then continues what required it: the agent's task, or the request the site rejected. Does nothing
   * unless the last message is `auth-required`, or the site asks for a sign-in.
   */
  readonly signIn: () => Promise<void>;
  /** Continues an earlier conversation, identified by its A2A context id. */
  readonly open: (contextId: string, messages: readonly ChatMessage[]) => void;
}

/**
 * The state and actions of `A2AChat`, without its rendering.
 *
 * @param options - See {@link ChatOptions}; none is required.
 *
 * @example
 * ```tsx
 * function Ask() {
 *   const chat = useA2AChat();
 *   return (
 *     <>
 *       {chat.messages.map(({ id, text }) => <p key={id}>{text}</p>)}
 *       <button disabled={chat.phase !== 'idle'} onClick={() => void chat.send('Hello')}>Hello</button>
 *     </>
 *   );
 * }
 * ```
 *
 * @public
 */
export function useA2AChat(options: ChatOptions = {}): A2AChatController {
  return useChat(options, true);
}

/** A chat that requests the site's configuration on demand. */
export function useChat(options: ChatOptions & Pick<A2AChatProps, 'user'>, isWanted: boolean): A2AChatController {
  const { a2aEndpoint = `${basePath()}/api/a2a`, keepOnReload = false } = options;
  const { configEndpoint = `${withoutSlash(a2aEndpoint)}/config` } = options;
  const name = typeof keepOnReload === 'string' ? `#${keepOnReload}` : '';
  const latest = useLatest(options);
  const session = useMemo(
    () =>
      new ChatSession({
        a2aEndpoint,
        configEndpoint,
        fetch: siteFetch(() => latest.current.headers),
        taskTimeoutMs: () => latest.current.taskTimeoutMs ?? 600_000,
        onError: (error) => latest.current.onError?.(error),
        onSignIn: () => latest.current.onSignIn,
        context: () => latest.current.context?.(),
      }),
    // oxlint-disable-next-line react/exhaustive-deps -- another name is another conversation
    [a2aEndpoint, configEndpoint, latest, name],
  );
  const state = useSyncExternalStore(session.subscribe, session.getState, session.getState);
  useUserChange(options.user, session.reset);

  useEffect(() => {
    if (!isWanted) return;
    void session.prepare();
    session.enter();
  }, [session, isWanted]);
  useBrowserLayoutEffect(() => {
    if (!keepOnReload) return undefined;
    let isGone = false;
    let stop: (() => void) | undefined;
    // Without it, the conversation ends with the page.
    import('./chat/kept-conversation.js').then(
      ({ keepConversation }) => {
        if (isGone) return;
        stop = keepConversation(session, `agent-bff:${a2aEndpoint}${name}`);
        if (isWanted) session.enter();
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      stop?.();
    };
  }, [session, keepOnReload, a2aEndpoint, name, isWanted]);
  useEffect(() => {
    const { leave, reconnect } = session;
    // A page in the browser's back/forward cache would keep its connection to the agent.
    const comeBack = ({ persisted }: PageTransitionEvent) => persisted && session.enter();
    addEventListener('online', reconnect);
    addEventListener('pagehide', leave);
    addEventListener('pageshow', comeBack);
    return () => {
      removeEventListener('online', reconnect);
      removeEventListener('pagehide', leave);
      removeEventListener('pageshow', comeBack);
      leave();
    };
  }, [session]);

  return useMemo(() => {
    const { send, stop, reset, retry, signIn, open } = session;
    return { ...state, send, stop, reset, retry, signIn, open };
  }, [session, state]);
}

/** Exposes a chat's handle to the page, with the additions of its component. */
export function useChatHandle<Own extends object>(
  ref: Ref<A2AChatHandle & Own>,
  { send, stop, reset }: A2AChatHandle,
  own: Own,
): void {
  useImperativeHandle(ref, () => ({ send, stop, reset, ...own }));
}
