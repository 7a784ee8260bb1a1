import { describe } from 'vitest';
import type { Framework } from './framework.js';
import { agentCardSuite } from './suite/agent-card.js';
import { answerSuite } from './suite/answers.js';
import { connectionSuite } from './suite/connections.js';
import { departureSuite } from './suite/departures.js';
import { errorSuite } from './suite/errors.js';
import { hostBodySuite } from './suite/host-bodies.js';
import { limitSuite } from './suite/limits.js';
import { pathSuite } from './suite/paths.js';
import { recordSuite } from './suite/records.js';
import { refusalSuite } from './suite/refusals.js';
import { requestSuite } from './suite/requests.js';
import { responseFieldSuite } from './suite/response-fields.js';
import { stalledReaderSuite } from './suite/stalled-readers.js';
import { streamSuite } from './suite/streams.js';
import { surfaceSuite } from './suite/surfaces.js';

/** The columns of the table in the README. */
const SUITES: Readonly<Record<string, (framework: Framework) => void>> = {
  messages: requestSuite,
  'parsed bodies': hostBodySuite,
  refusals: refusalSuite,
  limits: limitSuite,
  answers: answerSuite,
  'agent card': agentCardSuite,
  errors: errorSuite,
  streams: streamSuite,
  'response fields': responseFieldSuite,
  departures: departureSuite,
  'stalled readers': stalledReaderSuite,
  connections: connectionSuite,
  widgets: surfaceSuite,
  records: recordSuite,
  paths: pathSuite,
};

/** The expectations of a visitor for a site on any framework. */
export function siteSuite(framework: Framework): void {
  describe(framework.name, () => {
    for (const [name, suite] of Object.entries(SUITES)) {
      // A parser after a middleware that consumed the body finds none. The host is responsible for that.
      if (suite === hostBodySuite && framework.parsesJson) continue;
      // A Web standard host writes to its own sockets.
      if (suite === connectionSuite && framework.isWebStandard === true) continue;
      describe(name, () => {
        suite(framework);
      });
    }
  });
}
