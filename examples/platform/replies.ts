import { createHash } from 'node:crypto';

import type { Message, Part } from '@a2a-js/sdk';

import { filesOf, nameOf, textOf } from './message-text.js';
import type { TaskTurn } from './task-turn.js';

/** The agent's speed, in milliseconds. */
export interface Pace {
  readonly wordMs: number;
  readonly slowStepMs: number;
}

export interface Question {
  readonly message: Message;
  /** True if the message continues a task that asked for input. */
  readonly isFollowUp: boolean;
  readonly pace: Pace;
}

export type Reply = (turn: TaskTurn) => Promise<void>;

const SLOW_STEPS = 120;
const MAX_ECHO = 200;
const MARKDOWN = `Here is some **Markdown**:

1. a list with *emphasis*
2. a [link to the A2A protocol](https://a2a-protocol.org/)
3. \`code\` in a line

\`\`\`js
const answer = 6 * 7;
console.log(answer);
\`\`\`

> It comes word by word, like every answer.
`;

const PATH = `Every word of this answer travels on its own, the way your message came:

1. **Your browser** sent it to this site, with nothing but the site’s cookie.
2. **The site’s server** added the credential, and passed it on.
3. **The agent** answers here, word by word.

Break the credential and ask again: you will see what your visitors would see.
`;

/** Finds the reply to a message: a command if its text is one, otherwise an echo. */
export function chooseReply({ message, isFollowUp, pace }: Question): Reply {
  const text = textOf(message);
  const [file] = filesOf(message);
  if (isFollowUp) return say(`Thank you. I have noted: ${shorten(text)}`, pace);
  if (file !== undefined) return say(describeFile(file), pace);
  switch (text.toLowerCase()) {
    case 'what happens to my message?':
      return say(PATH, pace);
    case 'slow':
    case 'count slowly, and i will stop you':
      return countSlowly(pace);
    case 'file':
      return say('There was no file in your message.', pace);
    case 'markdown':
    case 'show me a list and some code':
      return say(MARKDOWN, pace);
    case 'input':
    case 'ask me something':
      return async (turn) => turn.ask('Which city are you asking about?');
    case 'fail':
      return async (turn) => turn.fail('I was asked to fail, and so I did.');
    default:
      return say(echo(text), pace);
  }
}

function say(text: string, { wordMs }: Pace): Reply {
  return async (turn) => {
    await turn.write(text, wordMs);
    turn.complete();
  };
}

function countSlowly({ slowStepMs }: Pace): Reply {
  const steps = Array.from({ length: SLOW_STEPS }, (_, index) => index + 1);
  return async (turn) => {
    await turn.write(`Counting slowly to ${SLOW_STEPS}: ${steps.join(' ')}`, slowStepMs);
    turn.complete();
  };
}

function echo(text: string): string {
  return (
    `You said: “${shorten(text)}”. I am a small demo agent and only repeat what I hear, but every word of this answer ` +
    'travels on its own: from the agent, through the site’s own server, which added the credential, to your browser.'
  );
}

function describeFile(part: Part): string {
  const { content, mediaType } = part;
  const type = mediaType === '' ? 'no media type' : `media type ${mediaType}`;
  if (content?.$case !== 'raw') return `I received ${nameOf(part)}: an address instead of bytes, ${type}.`;
  const digest = createHash('sha256').update(content.value).digest('hex');
  return `I received ${nameOf(part)}: ${content.value.byteLength} bytes, ${type}, SHA-256 ${digest}.`;
}

function shorten(text: string): string {
  return text.length <= MAX_ECHO ? text : `${text.slice(0, MAX_ECHO)}…`;
}
