import { codings } from './codings.js';
import { DENIED, type HostileMessage, SENT } from './hostile-message.js';
import { names } from './names.js';
import { shapes } from './shapes.js';
import { brokenTexts } from './texts.js';

/** Every hostile message that somebody thought of. */
export function corpus(): readonly HostileMessage[] {
  return [...names(), ...shapes(), ...brokenTexts(SENT, DENIED), ...codings()];
}
