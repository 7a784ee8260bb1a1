import { isAgentBffError } from '../../domain/shared/errors.js';

/** Where in the configuration something stands. */
export interface Place {
  /** The configuration block; `environment` and `command line` stand for what is outside of it. */
  readonly block: string;
  readonly fields: readonly string[];
}

/** One line of the doctor's table. */
export interface Finding extends Partial<Place> {
  /** What was looked at, such as `token`. */
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'failed' | 'skipped';
  /** What was found, with the reason of a failure; never a secret. */
  readonly message: string;
  /** What to do about a failure or a warning: one sentence that names block and field. */
  readonly fix?: string;
  /** Where the configuration is that of the environment: the variables that set the fields. */
  readonly variables?: readonly string[];
}

/** Something that is as it should be. */
export function passed(check: string, message: string): Finding {
  return { check, result: 'ok', message };
}

/** Something that was not tried. */
export function skipped(check: string, message: string = 'skipped: fix the above first'): Finding {
  return { check, result: 'skipped', message };
}

/** Something to be fixed; `fix` is completed where it does not name the place. */
export function failed(check: string, message: string, place: Place, fix: string = ''): Finding {
  const { block, fields } = place;
  return { check, result: 'failed', message, block, fields, fix: complete(fix, place) };
}

/** Something that works, and may not be meant so. */
export function warning(check: string, message: string, place: Place, fix: string = ''): Finding {
  return { ...failed(check, message, place, fix), result: 'warning' };
}

/**
 * What is to be fixed where something was refused.
 *
 * @throws any error that is none of this package.
 */
export function refused(check: string, error: unknown): Finding {
  if (!isAgentBffError(error)) throw error;
  const { detail, hint, block = 'configureServer', fields } = error;
  return failed(check, detail, { block, fields }, hint);
}

/** Fields of `configureServer` itself. */
export function topLevel(...fields: readonly string[]): Place {
  return { block: 'configureServer', fields };
}

/** Blocks that are none. */
const OUTSIDE = ['environment', 'command line', 'machine'];

/** A place in a sentence. */
export function named({ block, fields }: Place): string {
  if (block === 'environment') return `the environment variable ${fields.join(', ')}`;
  if (block === 'command line') return `${fields.join(', ')} on the command line`;
  const within = block === 'configureServer' ? block : `the "${block}" configuration block`;
  return fields.length === 0 ? within : `${listed(fields)} in ${within}`;
}

/** What is said to visitors names a block and keeps its fields back, or the other way round. */
function complete(fix: string, place: Place): string {
  if (fix === '') return `Check ${named(place)}.`;
  const { block, fields } = place;
  if (OUTSIDE.includes(block))
    return fields.some((field) => fix.includes(field)) ? fix : `${fix} Correct ${named(place)}.`;
  const namesField = fields.length === 0 || fields.some((field) => fix.includes(`"${field}"`));
  if (fix.includes(block)) return namesField ? fix : `${fix} Look at ${listed(fields)} there.`;
  return `${fix} Correct ${named(place)}.`;
}

function listed(fields: readonly string[]): string {
  const quoted = fields.map((field) => `"${field}"`);
  return [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' and ');
}
