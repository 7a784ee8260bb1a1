/** A member that readers act upon, as one of its spellings leads to it. */
export interface MemberName {
  /** Its name in the specification; undefined when no reader takes the name for a member of this level. */
  readonly member: string | undefined;
  /** What lenient readers make of the name. */
  readonly folded: string;
  /** Whether it stands in the one spelling that every reader takes for this member. */
  readonly isExact: boolean;
}

/** The members of one level of a message, by spelling. */
export class MemberNames {
  readonly #exact = new Map<string, MemberName>();
  readonly #folded = new Map<string, string>();

  /**
   * Takes names in camelCase, and their snake_case twins: readers made from protocol buffers accept both (ProtoJSON).
   * Aliases are further names of a member.
   */
  constructor(names: readonly string[], aliases: Readonly<Record<string, string>> = {}) {
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
    const folded = normalizedName(spelling);
    this.#exact.set(spelling, { member, folded, isExact: true });
    this.#folded.set(folded, member);
  }

  /** Looks up a name as it stands in the text between its quotes, escapes included. */
  find(raw: string): MemberName {
    const exact = this.#exact.get(raw);
    if (exact !== undefined) return exact;
    const name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    const folded = normalizedName(name);
    // Copied by assignment, `__proto__` becomes the object whose members a reader sees as the message's own.
    return { member: name === '__proto__' ? name : this.#folded.get(folded), folded, isExact: false };
  }
}

/**
 * What the most lenient readers make of a name: those that ignore case by Unicode's folding (Go's `encoding/json` takes U+017F for `s` and
 * U+212A for `k`), that ignore separators (`push-notification_config`), that trim, that end at a NUL, and that drop what is invisible.
 */
function normalizedName(name: string): string {
  if (/^[a-zA-Z0-9]*$/.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKD')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}]/gu, '');
}
