import { excerpt, jsonOf, type SiteProbe } from './site-probe.js';
import { type Finding, passed, type Place, topLevel, warning } from './finding.js';

/** What a message to the agent has to know. */
export interface AgentFacts {
  /** Whether it speaks version 1 of the protocol. */
  readonly isVersion1: boolean;
  readonly streams: boolean;
}

interface CardInterface {
  readonly protocolVersion?: unknown;
}

/** The agent's card as the browser gets it. */
interface Card {
  readonly name?: unknown;
  readonly protocolVersion?: unknown;
  readonly supportedInterfaces?: readonly CardInterface[];
}

const OK = 200;

/** Looks for the agent's card where the config route does. */
export async function agentCard(
  site: SiteProbe,
  credential: Place,
): Promise<{ readonly findings: readonly Finding[]; readonly agent: AgentFacts | undefined }> {
  const check = 'agent card';
  // Agents of version 1 show an older card to those who do not ask; older agents do not know the field.
  let record = await ask(site, '1.0');
  if (record.status !== OK) record = await ask(site, '');
  if (record.status !== OK) {
    return { findings: [site.failed(check, topLevel('a2aUrl'), credential)], agent: undefined };
  }
  const {
    agentCard: card,
    supportsStreaming,
    warnings,
  } = record.body as {
    readonly agentCard: Card;
    readonly supportsStreaming: boolean;
    readonly warnings: readonly string[];
  };
  const versions = protocolVersions(card);
  const streams = supportsStreaming ? 'streams' : 'does not stream';
  const message = `${quoted(card.name)}, protocol ${versions.join(' and ') || 'of no stated version'}, ${streams}; found at ${record.place}`;
  const agent = { isVersion1: versions.some((version) => version.startsWith('1')), streams: supportsStreaming };
  if (!warnings.includes('agent_card_url_unavailable')) return { findings: [passed(check, message)], agent };
  const fix = `Set "agentCardUrl" in configureServer to ${record.place}, or leave it out.`;
  return { findings: [warning(check, `${message}, not where it should be`, topLevel('agentCardUrl'), fix)], agent };
}

async function ask(site: SiteProbe, version: string) {
  const before = site.responses.length;
  const response = await site.ask(site.toolkit.handlers.chat({}), {
    path: '/config',
    headers: version === '' ? {} : { 'a2a-version': version },
  });
  const body = await jsonOf(response);
  const found = site.responses.slice(before).findLast(({ status, url }) => status === OK && url.endsWith('.json'));
  return { status: response.status, body, place: found?.url ?? 'its address' };
}

function protocolVersions({ protocolVersion, supportedInterfaces = [] }: Card): readonly string[] {
  const named = [protocolVersion, ...supportedInterfaces.map((one) => one.protocolVersion)];
  return [...new Set(named.filter((version) => typeof version === 'string' && version !== ''))] as string[];
}

/** A name from elsewhere. */
function quoted(name: unknown): string {
  return JSON.stringify(excerpt(String(name), 60));
}
