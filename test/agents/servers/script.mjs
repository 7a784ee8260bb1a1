// The script that every agent of this folder follows, in any framework. The visitor's message chooses the scene.
import { setTimeout as pause } from 'node:timers/promises';

/** A PNG of one red pixel, in base64. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
export const GREETING = 'Hello from the **agent**.';
export const QUESTION = 'Which city?';

/** The scene that a message names: `words`, `long`, `slow`, `file`, `question`, `error`, or the answer to the question. */
export function sceneOf(text) {
  return /\b(words|long|slow|file|question|error)\b/.exec(text)?.[1] ?? 'reply';
}

/** Yields the text of a scene in pieces, with its pauses. */
export async function* piecesOf(text, signal) {
  const scene = sceneOf(text);
  if (scene === 'error') throw new Error('The model is out of order.');
  if (scene === 'question') yield QUESTION;
  else if (scene === 'reply') yield `So it is ${text}.`;
  else if (scene === 'long') yield* counted(400, 3, signal);
  else if (scene === 'slow') yield* counted(60, 100, signal);
  else for (const piece of GREETING.split(/(?<= )/)) yield piece;
}

async function* counted(count, everyMs, signal) {
  for (let number = 1; number <= count; number++) {
    signal?.throwIfAborted();
    yield `word-${number} `;
    await pause(everyMs);
  }
}

/** The last text the user wrote, whatever the shape of the messages. */
export function lastWords(messages) {
  const last = messages.findLast(({ role }) => role === 'user');
  const parts = [last?.parts ?? last?.content ?? []].flat();
  return parts.map((part) => (typeof part === 'string' ? part : (part.text ?? ''))).join(' ');
}

/** Reports the agent's address to the test, for `a2aUrl`. */
export function announce(a2aUrl) {
  process.stdout.write(`agent at ${a2aUrl}\n`);
}

/** The port to listen on. */
export const PORT = Number(process.argv[2] ?? 0);
