import { createContext, useContext, useMemo } from 'react';

import { type ChatError, MESSAGES } from './chat-error.js';

/**
 * All texts of a chat, as plain strings, so that a server component can pass them. Placeholders such as `{name}` are
 * replaced.
 *
 * @public
 */
export interface ChatLabels {
  /** The title until the agent's name is known. Default `Chat`. */
  readonly chat: string;
  /** Above an empty conversation. Default `How can I help?`. */
  readonly welcome: string;
  /** The same for a signed-in user. Default `How can I help, {name}?`. */
  readonly welcomeUser: string;
  /** Label of the suggested prompts. Default `Suggestions`. */
  readonly suggestions: string;
  /** Label of the messages. Default `Conversation`. */
  readonly conversation: string;
  /** Before each message of a visitor without a name, for screen readers. Default `You`. */
  readonly you: string;
  /** Before each message of the agent, for screen readers. Default `Agent`. */
  readonly agent: string;
  /** Until an answer begins, for screen readers. Default `The agent is thinking.`. */
  readonly thinking: string;
  /** While a broken connection is being restored. Default `Reconnecting…`. */
  readonly reconnecting: string;
  /** Until the agent has stopped. Default `Stopping…`. */
  readonly stopping: string;
  /** Below an answer that the visitor stopped. Default `Stopped.`. */
  readonly stopped: string;
  /** Below an answer that the agent failed to complete. Default `The agent could not finish this.`. */
  readonly failed: string;
  /** Below an answer that broke off. Default `This answer is not complete.`. */
  readonly incomplete: string;
  /** Below a question from the agent. Default `The agent is waiting for your reply.`. */
  readonly inputRequired: string;
  /** Below a message of an agent that needs the visitor signed in. Default `The agent needs you to sign in.`. */
  readonly authRequired: string;
  /** In place of an answer without content. Default `The agent finished without an answer.`. */
  readonly empty: string;
  /** Names what is folded away: the agent's thoughts and steps. Default `Thoughts`. */
  readonly thoughts: string;
  /** Names data that is folded away. Default `Data`. */
  readonly data: string;
  /** On a file an agent sent. Default `Download {file}`. */
  readonly download: string;
  /** Label of the text field. Default `Message`. */
  readonly message: string;
  /** In the empty text field. Default `Write a message…`. */
  readonly placeholder: string;
  /** The same after a question from the agent. Default `Your reply…`. */
  readonly replyPlaceholder: string;
  /** Default `Send`. */
  readonly send: string;
  /** Default `Stop`. */
  readonly stop: string;
  /** Default `Retry`. */
  readonly retry: string;
  /** In place of `retry` while the site asks to wait. Default `Retry in {seconds} s`. */
  readonly retryIn: string;
  /** In place of `retry` when only a reload can help. Default `Reload`. */
  readonly reload: string;
  /** Calls the site's `onSignIn`. Default `Sign in`. */
  readonly signIn: string;
  /** Below a widget that could not be rendered. Default `Try again`. */
  readonly tryAgain: string;
  /** Label of the file field. Default `File`. */
  readonly file: string;
  /** Default `Attach a file of up to {limit}`. */
  readonly attachFile: string;
  /** Default `Remove {file}`. */
  readonly removeFile: string;
  /** Default `{file} is too large: {size}. A file may have at most {limit}.`. */
  readonly fileTooLarge: string;
  /** Default `The file could not be read.`. */
  readonly fileUnreadable: string;
  /** On a block of code. Default `Copy`. */
  readonly copy: string;
  /** The same after copying. Default `Copied`. */
  readonly copied: string;
  /** The same where the browser forbids it, as in a frame without permission. Default `Copying is not allowed here`. */
  readonly cannotCopy: string;
  /** Names a table, for screen readers. Default `Table`. */
  readonly table: string;
  /** Below an answer. Default `Copy answer`. */
  readonly copyAnswer: string;
  /** While the visitor reads above the end of the conversation. Default `Go to the end`. */
  readonly toEnd: string;
  /** The same once there is new text below. Default `Go to the new text`. */
  readonly toNew: string;
  /** Default `New conversation`. */
  readonly newConversation: string;
  /** Default `Earlier conversations`. */
  readonly earlierConversations: string;
  /** Default `Loading…`. */
  readonly loading: string;
  /** Default `There are no conversations yet.`. */
  readonly noConversations: string;
  /** Default `Delete {title}`. */
  readonly deleteConversation: string;
  /** Default `Close chat`. */
  readonly close: string;
  /** Default `The connection to the site was lost. Please try again.`. */
  readonly connectionLost: string;
  /** Default `Something failed. Please reload the page.`. */
  readonly pageFailed: string;
  /** Default `This is not available at the moment. Please try again later.`. */
  readonly unreachable: string;
  /** Default `Please sign in and try again.`. */
  readonly signedOut: string;
  /** Default `This is busy at the moment. Please try again later.`. */
  readonly busy: string;
  /** Default `This was not accepted.`. */
  readonly refused: string;
  /** Default `The answer could not be read. Please try again later.`. */
  readonly unreadable: string;
  /** When a task takes longer than `taskTimeoutMs`. Default `The agent is still working on this.`. */
  readonly stillWorking: string;
  /** Default `The agent cannot be stopped and may go on working.`. */
  readonly cannotStop: string;
  /** When an action of a widget succeeded, but its new state could not be shown. Default `This was done, but the result cannot be shown.`. */
  readonly doneNotShown: string;
  /** After the name of a widget's field, when the visitor chose a file. Default `The file cannot be sent.`. */
  readonly noFiles: string;
}

/** The labels of widgets, in English. */
export const WIDGET_LABELS = { ...MESSAGES, reload: 'Reload', tryAgain: 'Try again' };

/** All but those of answers and of the history, which are loaded later (`answer-labels.ts`, `history.tsx`). */
const ENGLISH = {
  ...WIDGET_LABELS,
  chat: 'Chat',
  welcome: 'How can I help?',
  welcomeUser: 'How can I help, {name}?',
  suggestions: 'Suggestions',
  conversation: 'Conversation',
  reconnecting: 'Reconnecting…',
  stopping: 'Stopping…',
  message: 'Message',
  placeholder: 'Write a message…',
  replyPlaceholder: 'Your reply…',
  send: 'Send',
  stop: 'Stop',
  retry: 'Retry',
  retryIn: 'Retry in {seconds} s',
  signIn: 'Sign in',
  file: 'File',
  attachFile: 'Attach a file of up to {limit}',
  removeFile: 'Remove {file}',
  fileTooLarge: '{file} is too large: {size}. A file may have at most {limit}.',
  newConversation: 'New conversation',
  earlierConversations: 'Earlier conversations',
  loading: 'Loading…',
  close: 'Close chat',
} satisfies Partial<ChatLabels>;

/** The names of those labels. */
export type FirstLabel = keyof typeof ENGLISH;

export const LabelsContext = /* @__PURE__ */ createContext(ENGLISH as Partial<ChatLabels> as ChatLabels);

/** The labels of the chat that contains a component, without those of answers. */
export function useLabels(): ChatLabels {
  return useContext(LabelsContext);
}

/** A site's labels of a chat, completed with the English ones. */
export function useCompleteLabels(own: Partial<ChatLabels> | undefined): ChatLabels {
  return useMemo(() => completeLabels(ENGLISH as Partial<ChatLabels> as ChatLabels, own), [own]);
}

/** A site's labels, completed with others. */
export function completeLabels<Labels extends object>(english: Labels, own: Partial<ChatLabels> | undefined): Labels {
  const given = Object.entries(own ?? {}).filter(([, text]) => text !== undefined);
  return { ...english, ...Object.fromEntries(given) };
}

/** A label with its placeholders replaced. */
export function fill(label: string, values: Readonly<Record<string, string>>): string {
  return label.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

export function describeSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  // Rounded up, so that a file just over the limit never shows the limit's size.
  return `${Math.ceil((bytes / 1024 / 1024) * 10) / 10} MB`;
}

/** The text of an error for the visitor: the label of its message, or the message of the site or its platform. */
export function wordsOf(
  { message, cause }: ChatError,
  labels: Pick<ChatLabels, keyof typeof MESSAGES>,
  showCause?: boolean,
): string {
  const known = Object.entries(MESSAGES).find(([, words]) => message.includes(words));
  const text =
    known === undefined ? message : message.replace(known[1], () => labels[known[0] as keyof typeof MESSAGES]);
  return showCause ? `${text} ${cause as string}` : text;
}
