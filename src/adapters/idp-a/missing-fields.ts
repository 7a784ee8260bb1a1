import type { IssueFailure } from '../../ports/identity-provider.js';

/** The failure for the first block that lacks a field; undefined when all are filled. Fields are in the order given. */
export function missingFields(
  blocks: Readonly<Record<string, Readonly<Record<string, string>>>>,
): IssueFailure | undefined {
  for (const [block, values] of Object.entries(blocks)) {
    const fields = Object.keys(values).filter((field) => values[field]?.trim() === '');
    if (fields.length === 0) continue;
    return {
      kind: 'failure',
      reason: 'incomplete',
      block,
      fields,
      advice: `Fill in the "${block}" configuration block: ${fields.map((field) => `"${field}"`).join(', ')}.`,
      detail: `not configured: ${fields.map((field) => `${block}.${field}`).join(', ')}`,
    };
  }
  return undefined;
}
