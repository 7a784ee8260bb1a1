import type { AbuseFamily } from './abuse-case.js';
import { activeContent, answerFields, brokenAnswers, repeatedActions } from './answers.js';
import { bodySizes, contentCodings, contentTypes } from './bodies.js';
import { caches } from './caches.js';
import { charsets } from './charsets.js';
import { connectionOptions } from './connection-options.js';
import { halfMessages, pipelines } from './connections.js';
import { cookies } from './cookies.js';
import { credentialFields } from './credential-fields.js';
import { foldings } from './foldings.js';
import { framing } from './framing.js';
import { hosts } from './hosts.js';
import { identityFields } from './identity-fields.js';
import { injections, oversized } from './injections.js';
import { json } from './json.js';
import { methods } from './methods.js';
import { crossOriginSharing, origins } from './origins.js';
import { chatPaths, corpusPaths, traversal } from './paths.js';
import { platformWords } from './platform-words.js';
import { queries } from './queries.js';
import { rebinding } from './rebinding.js';
import { redirects } from './redirects.js';
import { sessions } from './sessions.js';
import { streams } from './streams.js';
import { targets } from './targets.js';
import { themes } from './themes.js';
import { upgrades } from './upgrades.js';

/** Everything that is tried on every host. */
export const ABUSE_FAMILIES: readonly AbuseFamily[] = [
  connectionOptions,
  credentialFields,
  identityFields,
  cookies,
  corpusPaths,
  traversal,
  chatPaths,
  targets,
  hosts,
  framing,
  contentTypes,
  charsets,
  contentCodings,
  bodySizes,
  json,
  foldings,
  methods,
  origins,
  crossOriginSharing,
  rebinding,
  upgrades,
  injections,
  oversized,
  queries,
  redirects,
  answerFields,
  activeContent,
  brokenAnswers,
  platformWords,
  repeatedActions,
  streams,
  themes,
  caches,
  sessions,
  pipelines,
  halfMessages,
];
