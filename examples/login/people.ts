export interface Person {
  /** The person's id in tokens, and in `login_hint`. */
  readonly id: string;
  readonly name: string;
}

/** The people who can sign in, without passwords, since this is a demo. */
export const PEOPLE: readonly Person[] = [
  { id: 'ada', name: 'Ada Lovelace' },
  { id: 'grace', name: 'Grace Hopper' },
];

export function findPerson(id: unknown): Person | undefined {
  return PEOPLE.find((person) => person.id === id);
}
