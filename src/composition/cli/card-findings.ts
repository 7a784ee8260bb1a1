import { type SiteProbe, jsonOf } from './site-probe.js';
import type { Finding } from './finding.js';

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
): Promise<{ readonly findings: readonly Finding[]; readonly agent: AgentFacts | undefined }> {
  const check = 'agent card';
  // Agents of version 1 show an older card to those who do not ask; older agents do not know the field.
  let record = await ask(site, '1.0');
  if (record.status !== OK) record = await ask(site, '');
  if (record.status !== OK) return { findings: [site.failed(check, record.answer, ['a2aUrl'])], agent: undefined };
  const {
    agentCard: card,
    supportsStreaming,
    warnings,
  } = record.answer as {
    readonly agentCard: Card;
    readonly supportsStreaming: boolean;
    readonly warnings: readonly string[];
  };
  const versions = protocolVersions(card);
  const streams = supportsStreaming ? 'streams' : 'does not stream';
  const message = `${quoted(card.name)}, protocol ${versions.join(' and ') || 'of no stated version'}, ${streams}; found at ${record.place}`;
  const agent = { isVersion1: versions.some((version) => version.startsWith('1')), streams: supportsStreaming };
  if (!warnings.includes('agent_card_url_unavailable')) return { findings: [{ check, result: 'ok', message }], agent };
  const elsewhere = { block: 'configureServer', fields: ['agentCardUrl'] };
  return {
    findings: [{ check, result: 'warning', message: `${message}, not where it should be`, ...elsewhere }],
    agent,
  };
}

async function ask(site: SiteProbe, version: string) {
  const before = site.visits.length;
  const response = await site.ask(site.toolkit.chatHandler(), {
    path: '/config',
    headers: version === '' ? {} : { 'a2a-version': version },
  });
  const answer = await jsonOf(response);
  const found = site.visits.slice(before).findLast((call) => call.answer?.status === OK);
  return { status: response.status, answer, place: found === undefined ? 'its address' : found.origin + found.path };
}

function protocolVersions({ protocolVersion, supportedInterfaces = [] }: Card): readonly string[] {
  const named = [protocolVersion, ...supportedInterfaces.map((one) => one.protocolVersion)];
  return [...new Set(named.filter((version) => typeof version === 'string' && version !== ''))] as string[];
}

/** A name from elsewhere, on one line of this terminal. */
function quoted(name: unknown): string {
  return JSON.stringify(
    String(name)
      .replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ')
      .slice(0, 60),
  );
}
