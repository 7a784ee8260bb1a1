import { nextTurn } from '../../adapters/system/system.js';
import { visitorCrypto, visitorKeys } from '../../adapters/keyv/visitor-crypto.js';
import type { ChatCallOptions, VisitedOptions, VisitorOf } from '../../adapters/web/chat-mount.js';
import { type Visit, Visitors, type VisitorsDependencies } from '../../adapters/web/visitors.js';
import { siteFailed } from '../../domain/shared/errors.js';
import { ConversationGuard, type ConversationGuardDependencies } from '../../domain/chat/conversation-guard.js';
import { MintedContexts } from '../../domain/chat/minted-contexts.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import { sessionUser } from '../../domain/credentials/session-credentials.js';
import type { PlatformErrors } from '../../domain/upstream/platform-error.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpRequest } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { ChatHandlerOptions } from '../routes/route-options.js';
import { siteSays } from './site-function.js';

export interface VisitorConversationsDependencies {
  readonly auth: RouteAuth;
  readonly options: ChatHandlerOptions;
  /** The options that all visitors' calls have in common. */
  readonly shared: ChatCallOptions;
  readonly config: Pick<ResolvedConfig, 'agent' | 'cacheKeys' | 'publicUrl' | 'timeouts'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly errors: PlatformErrors;
  readonly bodies: ConversationGuardDependencies['bodies'];
}

const MAX_AGE_S = 2_592_000;

/** Recognises the visitors of one chat route, and lets each into their own conversations. */
export function visitorConversations(dependencies: VisitorConversationsDependencies): VisitorOf {
  const { auth, options, shared, config, clock, telemetry, errors, bodies } = dependencies;
  const { agent, cacheKeys, publicUrl, timeouts } = config;
  const { visitorMaxAge: maxAgeS = MAX_AGE_S, ownsContext } = options;
  const contexts = new MintedContexts(visitorCrypto);
  const guard = new ConversationGuard({
    contexts,
    errors,
    telemetry,
    bodies,
    agent: agent === undefined ? '' : agent.origin + agent.path,
    nextTurn,
  });
  const keys = cacheKeys.map(visitorKeys);
  const user = userOf(auth, options, timeouts.sessionMs);
  const visitors = new Visitors({ crypto: visitorCrypto, clock, keys, user, maxAgeS, publicUrl });
  const { metadata, tenant } = shared;
  const of = (
    request: HttpRequest,
    countLookup: () => Promise<void>,
    { keys, user, cookie }: Visit,
  ): VisitedOptions => {
    const visitor = user?.name ?? null;
    const caller = { request: request.native.request, visitor };
    const owns =
      ownsContext &&
      (async (contextId: string): Promise<boolean> => {
        const failure = failed('ownsContext');
        const isOwn: unknown = await siteSays(() => ownsContext(contextId, caller), timeouts.sessionMs, failure);
        if (![true, false, undefined, null].includes(isOwn as boolean))
          throw failure(`it returned type "${typeof isOwn}" instead of true or false`);
        return isOwn === true;
      });
    // Unlike a key of users, the secret of a cookie belongs to one visitor.
    const key = user?.key ?? String(keys[0].key);
    const conversations = guard.of({ keys, owns, countLookup });
    return { metadata, tenant, conversations, visitor, key, cookie };
  };
  return (request, countLookup) => {
    const visit = visitors.of(request);
    return visit instanceof Promise
      ? visit.then((one) => of(request, countLookup, one))
      : of(request, countLookup, visit);
  };
}

/** The user of a request, from the site's function or from the route's session. The two never share names. */
function userOf(auth: RouteAuth, { visitor }: ChatHandlerOptions, sessionMs: number): VisitorsDependencies['user'] {
  if (visitor !== undefined) {
    return async ({ native }) => {
      const name: unknown = await siteSays(() => visitor(native.request), sessionMs, failed('visitor'));
      if (name === undefined || name === null || name === '') return undefined;
      if (typeof name === 'string') return { name, key: JSON.stringify(['site', name]) };
      throw failed('visitor')(`it returned a ${typeof name} instead of a string`);
    };
  }
  if (auth.kind !== 'session') return undefined;
  return async (request) => {
    const { name, user = {} } = (await sessionUser(auth, request)) ?? {};
    return name && { name: user.subject ?? '', key: JSON.stringify(['session', ...name]) };
  };
}

function failed(option: string): ReturnType<typeof siteFailed> {
  return siteFailed(option, 'The visitor of this request could not be determined.');
}
