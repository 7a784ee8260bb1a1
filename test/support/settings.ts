import type { Setting } from '../../src/domain/shared/setting.js';

type Settings<Values> = { readonly [Name in keyof Values]: Setting<Values[Name]> };

/** Settings with these values, all from one configuration block. */
export function settingsIn<Values extends object>(block: string, values: Values): Settings<Values> {
  const entries = Object.entries(values).map(([field, value]: [string, unknown]) => [
    field,
    { value, block, field, side: 'principal' },
  ]);
  return Object.fromEntries(entries) as Settings<Values>;
}
