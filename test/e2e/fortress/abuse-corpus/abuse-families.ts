import type { AbuseFamily } from './abuse-case.js';
import { answerFields, brokenAnswers } from './answers.js';
import { connectionOptions } from './connection-options.js';
import { halfMessages, pipelines } from './connections.js';
import { cookies } from './cookies.js';
import { framing } from './framing.js';
import { hosts } from './hosts.js';
import { injections, oversized } from './injections.js';
import { chatPaths, corpusPaths, traversal } from './paths.js';
import { redirects } from './redirects.js';
import { streams } from './streams.js';
import { targets } from './targets.js';
import { upgrades } from './upgrades.js';

/** Everything that is tried on every host. */
export const ABUSE_FAMILIES: readonly AbuseFamily[] = [
  connectionOptions,
  cookies,
  corpusPaths,
  traversal,
  chatPaths,
  targets,
  hosts,
  framing,
  upgrades,
  injections,
  oversized,
  redirects,
  answerFields,
  brokenAnswers,
  streams,
  pipelines,
  halfMessages,
];
