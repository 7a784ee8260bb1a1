export interface Person {
  /** Names the person in tokens, and in `login_hint`. */
  readonly id: string;
  readonly name: string;
}

/** Who can sign in. Nobody has a password: it is a demo. */
export const PEOPLE: readonly Person[] = [
  { id: 'ada', name: 'Ada Lovelace' },
  { id: 'grace', name: 'Grace Hopper' },
];

export function findPerson(id: unknown): Person | undefined {
  return PEOPLE.find((person) => person.id === id);
}
