import type { AgentCardJson } from './agent-card.js';

/** No version, and the published ones (A2A v1.0 §3.6: major and minor number). */
const PUBLISHED: readonly string[] = ['', '0.2', '0.3', '1.0'];
/** More than an agent has, and too few to fill anything. */
const MAX_NAMED = 16;

/** The protocol versions that are known: the published ones, and those the agent's cards name. Any other may have been made up by a stranger. */
export class CardVersions {
  readonly #known = new Set(PUBLISHED);

  has(version: string): boolean {
    return this.#known.has(version);
  }

  /** Learns what a card names. */
  learn({ protocolVersion, supportedInterfaces }: AgentCardJson): void {
    const interfaces = Array.isArray(supportedInterfaces) ? (supportedInterfaces as unknown[]) : [];
    const named = interfaces.map((entry) => (Object(entry) as AgentCardJson)['protocolVersion']);
    for (const version of [protocolVersion, ...named]) {
      if (this.#known.size >= PUBLISHED.length + MAX_NAMED) return;
      if (typeof version === 'string') this.#known.add(version);
    }
  }
}
