import type { IssueFailure } from '../../ports/identity-provider.js';
import { BLOCK } from './block.js';

const CREDENTIAL = ['clientSecret', 'certificatePath', 'privateKeyPath'] as const;

/** The failure that names every field without a value; undefined when none lacks. Fields are in the order given. */
export function missingFields(
  values: Readonly<Record<string, string>>,
  hasCredential: boolean,
): IssueFailure | undefined {
  const empty = Object.keys(values).filter((field) => values[field]?.trim() === '');
  if (empty.length === 0 && hasCredential) return undefined;
  const named = empty.map((field) => `"${field}"`);
  if (!hasCredential) named.push('"clientSecret", or "certificatePath" and "privateKeyPath"');
  return {
    kind: 'failure',
    reason: 'incomplete',
    block: BLOCK,
    fields: hasCredential ? empty : [...empty, ...CREDENTIAL],
    advice: `Fill in the "${BLOCK}" configuration block: ${named.join(', ')}.`,
    detail: `not configured: ${[...empty, ...(hasCredential ? [] : ['a client credential'])].join(', ')}`,
  };
}
