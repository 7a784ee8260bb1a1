import { describe } from 'vitest';
import type { Framework } from './framework.js';
import { answerSuite } from './suite/answers.js';
import { departureSuite } from './suite/departures.js';
import { hostBodySuite } from './suite/host-bodies.js';
import { refusalSuite } from './suite/refusals.js';
import { requestSuite } from './suite/requests.js';
import { streamSuite } from './suite/streams.js';

/** Everything a visitor may expect of the chat routes, whatever framework serves them. */
export function siteSuite(framework: Framework): void {
  describe(framework.name, () => {
    requestSuite(framework);
    hostBodySuite(framework);
    refusalSuite(framework);
    answerSuite(framework);
    streamSuite(framework);
    departureSuite(framework);
  });
}
