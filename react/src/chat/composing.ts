import type { KeyboardEvent } from 'react';

/** Reported for a key that an input method handles, in every engine. */
const KEY_OF_INPUT_METHOD = 229;

/**
 * True if the key belongs to an input method, as for Chinese, Japanese and Korean: there, Enter confirms a word and
 * Escape discards it. WebKit ends the composition before it reports that key, so `isComposing` is already false.
 */
export function isComposing({ nativeEvent, keyCode }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || keyCode === KEY_OF_INPUT_METHOD;
}
