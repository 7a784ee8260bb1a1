import { createContext, useContext, useMemo } from 'react';

import type { ChatError } from './chat-error.js';

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
  /** Default `The site cannot be reached at the moment. Please try again later.`. */
  readonly unreachable: string;
}

const ENGLISH: ChatLabels = {
  chat: 'Chat',
  welcome: 'How can I help?',
  welcomeUser: 'How can I help, {name}?',
  suggestions: 'Suggestions',
  conversation: 'Conversation',
  you: 'You',
  agent: 'Agent',
  thinking: 'The agent is thinking.',
  reconnecting: 'Reconnecting…',
  stopping: 'Stopping…',
  stopped: 'Stopped.',
  failed: 'The agent could not finish this.',
  incomplete: 'This answer is not complete.',
  inputRequired: 'The agent is waiting for your reply.',
  message: 'Message',
  placeholder: 'Write a message…',
  replyPlaceholder: 'Your reply…',
  send: 'Send',
  stop: 'Stop',
  retry: 'Retry',
  tryAgain: 'Try again',
  file: 'File',
  attachFile: 'Attach a file of up to {limit}',
  removeFile: 'Remove {file}',
  fileTooLarge: '{file} is too large: {size}. A file may have at most {limit}.',
  fileUnreadable: 'The file could not be read.',
  copy: 'Copy',
  copied: 'Copied',
  newConversation: 'New conversation',
  earlierConversations: 'Earlier conversations',
  loading: 'Loading…',
  noConversations: 'There are no conversations yet.',
  deleteConversation: 'Delete {title}',
  close: 'Close chat',
  connectionLost: 'The connection to the site was lost. Please try again.',
  unreachable: 'The site cannot be reached at the moment. Please try again later.',
};

export const LabelsContext = createContext(ENGLISH);

/** The labels of the chat that contains a component. */
export function useLabels(): ChatLabels {
  return useContext(LabelsContext);
}

/** A site's labels, completed with the English ones. */
export function useCompleteLabels(own: Partial<ChatLabels> | undefined): ChatLabels {
  return useMemo(() => {
    const given = Object.entries(own ?? {}).filter(([, text]) => text !== undefined);
    return { ...ENGLISH, ...Object.fromEntries(given) };
  }, [own]);
}

/** A label with its placeholders replaced. */
export function fill(label: string, values: Readonly<Record<string, string>>): string {
  return label.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** The text of an error for the visitor: the message of site or agent if there is one. */
export function wordsOf(error: ChatError, { connectionLost, unreachable, fileUnreadable }: ChatLabels): string {
  if (error.code === 'connection_lost') return connectionLost;
  if (error.code === 'unreachable') return unreachable;
  if (error.code === 'file_unreadable') return fileUnreadable;
  return error.message;
}
