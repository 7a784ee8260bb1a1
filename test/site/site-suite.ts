import { describe } from 'vitest';
import type { Framework } from './framework.js';
import { answerSuite } from './suite/answers.js';
import { departureSuite } from './suite/departures.js';
import { hostBodySuite } from './suite/host-bodies.js';
import { limitSuite } from './suite/limits.js';
import { pathSuite } from './suite/paths.js';
import { recordSuite } from './suite/records.js';
import { refusalSuite } from './suite/refusals.js';
import { requestSuite } from './suite/requests.js';
import { streamSuite } from './suite/streams.js';
import { surfaceSuite } from './suite/surfaces.js';

/** Everything a visitor may expect of a site, whatever framework serves it. */
export function siteSuite(framework: Framework): void {
  describe(framework.name, () => {
    requestSuite(framework);
    hostBodySuite(framework);
    refusalSuite(framework);
    limitSuite(framework);
    answerSuite(framework);
    streamSuite(framework);
    departureSuite(framework);
    surfaceSuite(framework);
    recordSuite(framework);
    pathSuite(framework);
  });
}
