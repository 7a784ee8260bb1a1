import { type Artifact, type Message, type Part, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';

import type { Answer } from './answer.js';
import type { AgentMessageState } from './chat-state.js';

/** The answer with one more event of the stream in it. */
export function takeEvent(answer: Answer, { payload }: StreamResponse): Answer {
  switch (payload?.$case) {
    case 'message': {
      const { contextId, parts } = payload.value;
      return { ...answer, contextId: contextId || answer.contextId, state: 'complete', words: textOf(parts) };
    }
    case 'task':
      return takeTask(answer, payload.value);
    case 'artifactUpdate': {
      const { artifact, append } = payload.value;
      return artifact === undefined ? answer : { ...answer, artifacts: withArtifact(answer, artifact, append) };
    }
    case 'statusUpdate': {
      const { taskId, contextId, status } = payload.value;
      return { ...answer, taskId, contextId, ...standing(status?.state, status?.message) };
    }
    case undefined:
      return answer;
  }
}

/** The answer as a snapshot of its task has it, which knows also what was said while nobody listened. */
export function takeTask(answer: Answer, { id, contextId, status, artifacts }: Task): Answer {
  const snapshot = new Map(artifacts.map((artifact) => [artifact.artifactId, textOf(artifact.parts)]));
  return { ...answer, taskId: id, contextId, artifacts: snapshot, ...standing(status?.state, status?.message) };
}

function standing(state: TaskState | undefined, message: Message | undefined): Pick<Answer, 'state' | 'words'> {
  return { state: ANSWER_STATES.get(state) ?? 'working', words: textOf(message?.parts ?? []) };
}

/** How each state looks to a visitor; a task in any other is still worked on. */
const ANSWER_STATES: ReadonlyMap<TaskState | undefined, AgentMessageState> = new Map([
  [TaskState.TASK_STATE_COMPLETED, 'complete'],
  [TaskState.TASK_STATE_INPUT_REQUIRED, 'input-required'],
  [TaskState.TASK_STATE_AUTH_REQUIRED, 'input-required'],
  [TaskState.TASK_STATE_FAILED, 'failed'],
  [TaskState.TASK_STATE_REJECTED, 'failed'],
  [TaskState.TASK_STATE_CANCELED, 'stopped'],
]);

function withArtifact({ artifacts }: Answer, { artifactId, parts }: Artifact, append: boolean): Answer['artifacts'] {
  const before = append ? (artifacts.get(artifactId) ?? '') : '';
  return new Map(artifacts).set(artifactId, before + textOf(parts));
}

function textOf(parts: readonly Part[]): string {
  return parts.map(textOfPart).join('');
}

function textOfPart({ content, filename }: Part): string {
  switch (content?.$case) {
    case 'text':
      return content.value;
    case 'url':
      return `[${filename || 'file'}](${content.value})`;
    case 'raw':
      return `\`${filename || 'file'}\``;
    case 'data':
      return `\n\`\`\`json\n${JSON.stringify(content.value, null, 2)}\n\`\`\`\n`;
    case undefined:
      return '';
  }
}
