/** A name as an agent's parser may read it. */
export interface MemberName {
  /** Its name in the specification; undefined if no parser reads the name as a member of this level. */
  readonly member: string | undefined;
  /** True for a spelling that every parser reads as this member. */
  readonly isExact: boolean;
  /** True if it registers a webhook. */
  readonly isPush: boolean;
}

/** The names of a webhook in the protocol versions from v0.1 to v1.0. */
const PUSH_CONFIGURATIONS = ['pushNotification', 'pushNotificationConfig', 'taskPushNotificationConfig'];

/** The members of one level of a message, by spelling. */
class MemberNames {
  /** By exact spelling. */
  readonly exact: Map<string, MemberName> = new Map();
  readonly #folded = new Map<string, string>();
  /** True if unknown members may register a webhook. */
  readonly #isOpen: boolean;

  /**
   * Takes names in camelCase and adds their snake_case forms: parsers generated from protocol buffers accept both
   * (ProtoJSON). Aliases are additional names of a member.
   */
  constructor(names: readonly string[], aliases: Readonly<Record<string, string>> = {}, isOpen: boolean = false) {
    this.#isOpen = isOpen;
    for (const name of names) {
      this.#add(name, name);
      this.#add(
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        name,
      );
    }
    for (const [alias, name] of Object.entries(aliases)) this.#add(alias, name);
  }

  #add(spelling: string, member: string): void {
    this.exact.set(spelling, { member, isExact: true, isPush: PUSH_CONFIGURATIONS.includes(member) });
    this.#folded.set(normalizedName(spelling), member);
  }

  /** A name that is no exact spelling. */
  other(name: string): MemberName {
    // Assigning `__proto__` while copying sets the prototype, whose members are then read as the message's own.
    if (name === '__proto__') return { member: name, isExact: false, isPush: false };
    // Some parsers read a name up to a NUL.
    const folded = normalizedName(name);
    const known = this.#folded.get(folded) ?? this.#folded.get(normalizedName(upToNul(name)));
    // In a configuration, any unknown member with such a name may be a webhook.
    const isPush = PUSH_CONFIGURATIONS.includes(known ?? '') || (this.#isOpen && folded.includes('pushnotification'));
    return { member: known, isExact: false, isPush };
  }
}

function upToNul(name: string): string {
  return name.split('\0', 1)[0] ?? '';
}

/**
 * A name as the most lenient parsers read it: those that fold case by Unicode (Go's `encoding/json` reads U+017F as `s`
 * and U+212A as `k`), ignore separators (`push-notification_config`), trim, or drop invisible characters.
 */
export function normalizedName(name: string): string {
  if (/^[a-zA-Z0-9]*$/.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKD')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]/gu, '');
}

/** Maximum number of members in one object, and characters of their names: messages have a dozen short ones. */
export const MAX_MEMBERS = 1_000;
export const MAX_NAME = 256;

/** An object of a message whose members are judged. */
export type LevelName = 'envelope' | 'params' | 'message' | 'configuration';

/** The members of a message, and of its configuration without webhooks, in A2A v0.2 to v1.0. */
export const MESSAGE_MEMBERS: readonly string[] = [
  'content',
  'contextId',
  'extensions',
  'kind',
  'messageId',
  'metadata',
  'parts',
  'referenceTaskIds',
  'role',
  'taskId',
];
export const CONFIGURATION_MEMBERS: readonly string[] = [
  'acceptedOutputModes',
  'blocking',
  'historyLength',
  'returnImmediately',
];

const PARAMS_MEMBERS = ['configuration', 'contextId', 'historyLength', 'id', 'message', 'metadata', 'name'];

const LEVELS: Readonly<Record<LevelName, MemberNames>> = {
  envelope: new MemberNames(['id', 'jsonrpc', 'method', 'params']),
  // The protocol buffers of v0.2 and v0.3 name the message `request`.
  params: new MemberNames([...PARAMS_MEMBERS, ...PUSH_CONFIGURATIONS, 'taskId', 'tenant'], { request: 'message' }),
  message: new MemberNames(MESSAGE_MEMBERS),
  configuration: new MemberNames([...CONFIGURATION_MEMBERS, ...PUSH_CONFIGURATIONS], {}, true),
};

/** The names of one level. */
export function memberNames(level: LevelName): MemberNames {
  return LEVELS[level];
}

/** Members by which some agents choose whose memory to open, in any spelling: Mastra and others, gemini-cli. */
const CHOOSING_MEMORY: ReadonlySet<string> = new Set(['resourceid', 'userid', 'coderagent']);

/** True if a visitor's metadata may never have a member of this name. */
export function choosesMemory(name: string): boolean {
  return CHOOSING_MEMORY.has(normalizedName(name));
}

/** True for a member of `params` in which some agents read a user, or that some parsers read as one. No version of A2A has it. */
export function namesUser(name: string): boolean {
  return !LEVELS.params.exact.has(name) && (name.includes('\0') || normalizedName(name) === 'context');
}
