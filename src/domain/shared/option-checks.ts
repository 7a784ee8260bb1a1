import type { OptionCheck } from './options.js';

/** A check that tells in words what it takes, such as `a string`. */
export function accept(isRight: (value: unknown) => boolean, words: string): OptionCheck {
  return (value) => (isRight(value) ? undefined : `Set it to ${words}.`);
}

export const text: OptionCheck = accept((value) => typeof value === 'string', 'a string');
export const flag: OptionCheck = accept((value) => typeof value === 'boolean', 'true or false');
export const callback: OptionCheck = accept((value) => typeof value === 'function', 'a function');
export const texts: OptionCheck = accept(
  (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  'a list of strings',
);
export const wholeNumber: OptionCheck = accept(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  'a whole number, 0 or more',
);

/** A secret that is sent as a header field: one line of visible characters (RFC 9110 §5.5). */
export const headerKey: OptionCheck = accept(
  (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
  'the key alone: ASCII, no spaces',
);

/** An object that has these methods. */
export function methods(...names: readonly string[]): OptionCheck {
  return accept((value) => hasMethods(value, names), `an object with ${names.join(' and ')}`);
}

/** Whether a value has these methods. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof (Object(value) as Record<string, unknown>)[name] === 'function');
}
