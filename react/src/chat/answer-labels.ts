import { useMemo } from 'react';

import { type ChatLabels, type FirstLabel, useLabels } from '../labels.js';
import type { HistoryLabel } from './history.js';

/** The English labels of messages, which are loaded with them. */
const ANSWER_LABELS: Omit<ChatLabels, FirstLabel | HistoryLabel> = {
  you: 'You',
  agent: 'Agent',
  thinking: 'The agent is thinking.',
  stopped: 'Stopped.',
  incomplete: 'This answer is not complete.',
  inputRequired: 'The agent is waiting for your reply.',
  authRequired: 'The agent needs you to sign in.',
  empty: 'The agent finished without an answer.',
  thoughts: 'Thoughts',
  data: 'Data',
  download: 'Download {file}',
  copy: 'Copy',
  copied: 'Copied',
  cannotCopy: 'Copying is not allowed here',
  table: 'Table',
  copyAnswer: 'Copy answer',
  toEnd: 'Go to the end',
  toNew: 'Go to the new text',
};

/** All labels of the chat that contains a message. */
export function useAnswerLabels(): ChatLabels {
  const labels = useLabels();
  return useMemo(() => ({ ...ANSWER_LABELS, ...labels }), [labels]);
}
