import { visitorCrypto, visitorKeys } from '../../adapters/keyv/visitor-crypto.js';
import { inTime } from '../../adapters/system/timed-ports.js';
import type { VisitorOf } from '../../adapters/web/chat-routes.js';
import { Visitors } from '../../adapters/web/visitors.js';
import { ConversationGuard } from '../../domain/chat/conversation-guard.js';
import { MintedContexts } from '../../domain/chat/minted-contexts.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import { userName } from '../../domain/credentials/session-credentials.js';
import { AgentBffError, isAgentBffError } from '../../domain/shared/errors.js';
import type { PlatformErrors } from '../../domain/upstream/platform-error.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpRequest } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { ChatHandlerOptions } from '../routes/route-options.js';

export interface VisitorConversationsDependencies {
  readonly auth: RouteAuth;
  readonly options: ChatHandlerOptions;
  readonly config: Pick<ResolvedConfig, 'agent' | 'cacheKeys' | 'publicUrl' | 'timeouts'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly errors: PlatformErrors;
}

const MAX_AGE_S = 2_592_000;

/** Recognises the visitors of one chat route, and lets each into their own conversations. */
export function visitorConversations(dependencies: VisitorConversationsDependencies): VisitorOf {
  const { auth, options, config, clock, telemetry, errors } = dependencies;
  const { agent, cacheKeys, publicUrl, timeouts } = config;
  const { visitorMaxAge: maxAgeS = MAX_AGE_S, ownsContext } = options;
  const contexts = new MintedContexts(visitorCrypto);
  const guard = new ConversationGuard({
    contexts,
    errors,
    telemetry,
    agent: agent === undefined ? '' : agent.origin + agent.path,
  });
  const keys = cacheKeys.map(visitorKeys);
  const user = userOf(auth, options, timeouts.sessionMs);
  const visitors = new Visitors({ crypto: visitorCrypto, clock, keys, user, maxAgeS, publicUrl });
  return async (request, countLookup) => {
    const visit = await visitors.of(request);
    const caller = { request: request.native.request, visitor: visit.user ?? null };
    const owns = (contextId: string): Promise<boolean> =>
      ownsContext === undefined
        ? Promise.resolve(false)
        : siteSays('ownsContext', timeouts.sessionMs, async () => (await ownsContext(contextId, caller)) === true);
    return { conversations: guard.of({ keys: visit.keys, owns, countLookup }), cookie: visit.cookie };
  };
}

/** The user of a request: as the site says, or as the session of the route. Each kind has its own names. */
function userOf(
  auth: RouteAuth,
  { visitor }: ChatHandlerOptions,
  sessionMs: number,
): (request: HttpRequest) => Promise<string | undefined> {
  if (visitor !== undefined) {
    return async ({ native }) => {
      const name: unknown = await siteSays('visitor', sessionMs, async () => visitor(native.request));
      if (name === undefined || name === null || name === '') return undefined;
      if (typeof name === 'string') return JSON.stringify(['site', name]);
      throw siteFailed('visitor', `it returned a ${typeof name} instead of a string`);
    };
  }
  if (auth.kind !== 'session') return () => Promise.resolve(undefined);
  return async (request) => {
    const name = await userName(auth, request);
    return name && JSON.stringify(['session', ...name]);
  };
}

/** Calls a function of the site within the time of a session library. */
async function siteSays<T>(option: string, sessionMs: number, ask: () => Promise<T>): Promise<T> {
  try {
    return await inTime(ask(), sessionMs, 'it');
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    throw siteFailed(option, error instanceof Error ? `${error.name}: ${error.message}` : typeof error);
  }
}

function siteFailed(option: string, reason: string): AgentBffError {
  return new AgentBffError('internal_error', {
    detail: 'The visitor of this request could not be determined.',
    hint: `Check the function in "${option}"; the server log has the cause.`,
    block: option,
    log: `The function in "${option}" failed: ${reason}.`,
  });
}
