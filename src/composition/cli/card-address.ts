import type { CardInterface } from '../../domain/chat/agent-card.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Endpoint } from '../../domain/upstream/platform-call.js';
import { type Finding, topLevel, warning } from './finding.js';
import { excerpt } from './site-probe.js';

// The agent's address, compared with the interfaces in its card: path, host and binding.

/** A warning if the card of a working agent names another path than the configured one; the host may differ behind a gateway. */
export function otherAddress(interfaces: readonly CardInterface[], agent: Endpoint): readonly Finding[] {
  const listed = jsonRpc(interfaces);
  const [named] = listed;
  if (named === undefined || listed.some(({ url }) => pathOf(url, agent) === pathOf(agent.path, agent))) return [];
  const fix = 'Set "a2aUrl" in configureServer to that address, unless a gateway in front of the agent changes paths.';
  const message = `the agent responds, but its card names ${excerpt(named.url)}`;
  return [warning('agent address', message, topLevel('a2aUrl'), fix)];
}

/** The failure of an address that does not speak A2A, with the address in the card. */
export function advised(finding: Finding, interfaces: readonly CardInterface[], agent: Endpoint): Finding {
  const [named] = jsonRpc(interfaces);
  if (named === undefined) return finding;
  const at = pathOf(named.url, agent);
  if (at === undefined || at === pathOf(agent.path, agent)) return finding;
  const other = interfaces.find(
    ({ url, binding }) => !isJsonRpc(binding) && pathOf(url, agent) === pathOf(agent.path, agent),
  );
  const message =
    other === undefined
      ? finding.message
      : `${finding.message} Its card says ${excerpt(other.binding, 20)} for this address.`;
  return {
    ...finding,
    message,
    fix: `Set "a2aUrl" in configureServer to ${excerpt(named.url)}, which the card names.`,
  };
}

function jsonRpc(interfaces: readonly CardInterface[]): readonly CardInterface[] {
  return interfaces.filter(({ binding }) => isJsonRpc(binding));
}

function isJsonRpc(binding: string): boolean {
  return binding === '' || /^json-?rpc$/i.test(binding);
}

function pathOf(url: string, { origin }: Endpoint): string | undefined {
  return URL.canParse(url, origin) ? withoutTrailingSlashes(new URL(url, origin).pathname) : undefined;
}
