import type { Toolkit } from './toolkit-type.js';

/** The version of the package: a toolkit of another one in the same process has other parts. */
export const VERSION = '0.1.0';

/** The member of a toolkit that holds its version. A registered symbol, since bundlers copy modules. */
export const TOOLKIT: unique symbol = Symbol.for('agent-bff/toolkit') as never;

/** True for a toolkit of this version, from any copy of its modules. */
export function isToolkit(value: unknown): value is Toolkit {
  return (Object(value) as Partial<Toolkit>)[TOOLKIT] === VERSION;
}
