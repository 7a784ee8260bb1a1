import { choosesMemory, normalizedName } from '../../domain/chat/member-names.js';
import type { MetadataAbout, SiteMetadata } from '../../domain/chat/sent-message.js';
import { type ConfigurationError, siteFailed } from '../../domain/shared/errors.js';
import { invalidField } from '../../domain/shared/setting.js';
import { warnOnce } from '../../domain/shared/warnings.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ConversationOptions } from '../routes/route-options.js';
import { siteSays } from './site-function.js';

/** The metadata member for the page context, from the chat's prop `context`. */
const PAGE = 'pageContext';

/**
 * The metadata that the site adds to messages, from the options of a chat route; `undefined` if a visitor's metadata is
 * forwarded unchanged.
 *
 * @throws ConfigurationError when two names are one to some agents, or a value is not JSON.
 */
export function siteMetadata(
  { metadata, visitorMetadata }: ConversationOptions,
  conversations: ConversationOptions['conversations'],
  sessionMs: number,
  telemetry: Telemetry,
): SiteMetadata | undefined {
  const rule = visitorMetadata ?? (conversations === 'visitor' ? 'drop' : 'pass');
  if (metadata === undefined && conversations !== 'visitor' && rule === 'pass') return undefined;
  const listed = typeof rule === 'string' ? [] : rule;
  const names = new Set<string>();
  const own = Object.entries(metadata ?? {});
  for (const [name] of own) {
    const folded = normalizedName(name);
    if (folded === '' || name === '__proto__') throw refused(`"${name}" cannot be a name.`, 'metadata', 'letters');
    if (names.has(folded)) throw refused(`"${name}" occurs twice, in different spellings.`, 'metadata', 'one of them');
    names.add(folded);
  }
  for (const name of listed) {
    if (typeof name !== 'string') throw refused('A name is not a string.', 'visitorMetadata', 'a list of strings');
    if (!names.has(normalizedName(name)) && !choosesMemory(name)) continue;
    throw refused(`A visitor's "${name}" is never forwarded.`, 'visitorMetadata', 'other names');
  }
  const members = own.map(([name, value]) => {
    const option = `metadata.${name}`;
    if (typeof value !== 'function') {
      const text = member(name, value);
      if (text instanceof Error) throw refused(`"${name}" is not JSON.`, 'metadata', 'JSON values or functions');
      return text;
    }
    const failure = siteFailed(option, 'The metadata of this message could not be created.');
    return async (about: MetadataAbout) => {
      const { request, session, visitor } = about;
      const text = member(name, await siteSays(() => value(request, { session, visitor }), sessionMs, failure));
      if (text instanceof Error) throw failure(`it returned a value that is not JSON`);
      return text;
    };
  });
  const dropped = (name: string): false => {
    const detail = `The page sends "${PAGE}", which is not forwarded to the agent. To forward it, set "visitorMetadata" to ["${PAGE}"] on the chat route.`;
    if (name === PAGE) warnOnce(telemetry, 'page_context_dropped', detail);
    return false;
  };
  const constant = members.every((text) => typeof text === 'string') ? Promise.resolve(joined(members)) : undefined;
  const made = async (about: MetadataAbout): Promise<string> =>
    joined(await Promise.all(members.map(async (text) => (typeof text === 'string' ? text : text(about)))));
  return {
    names,
    passes: rule === 'pass' ? () => true : (name) => listed.includes(name) || dropped(name),
    ...(members.length > 0 && { own: (about) => constant ?? made(about) }),
  };
}

/** One member as JSON; empty for `undefined`. */
function member(name: string, value: unknown): string | Error {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? '' : `${JSON.stringify(name)}:${text}`;
  } catch (error) {
    return error as Error;
  }
}

function joined(members: readonly string[]): string {
  return members.filter((text) => text !== '').join();
}

function refused(detail: string, option: string, cure: string): ConfigurationError {
  return invalidField(option, `Invalid value of "${option}": ${detail}`, `Set "${option}" to ${cure}.`, 'a2a');
}
