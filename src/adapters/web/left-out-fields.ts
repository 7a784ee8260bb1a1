import type { BrowserFieldRules, LeftOutField, LeftOutReason } from '../../domain/upstream/browser-fields.js';
import type { Telemetry } from '../../ports/telemetry.js';

const REASONS: Readonly<Record<LeftOutReason, string>> = {
  characters: 'characters other than printable ASCII',
  length: 'too long',
  name: 'not a name that may cross',
  number: 'too many or too long together',
  repeated: 'sent several times, the first was taken',
  syntax: 'could not be read',
};

/** Faults that are reported: sites forward few names, but an odd store may hold many. */
const MAX_KNOWN = 100;

/** Warns of each field that is left out once, by its name and never by its value. */
export function leftOutReporter(telemetry: Telemetry): BrowserFieldRules['leftOut'] {
  const known = new Set<string>();
  const isNew = ({ name, reason }: LeftOutField): boolean => {
    const fault = `${name} ${reason}`;
    if (known.has(fault) || known.size === MAX_KNOWN) return false;
    known.add(fault);
    return true;
  };
  return (fields) => {
    const list = fields.filter(isNew).map(({ name, reason }) => `${name} (${REASONS[reason]})`);
    if (list.length === 0) return;
    const detail = `The platform sent response fields that were left out: ${list.join(', ')}.`;
    telemetry.emit({ type: 'warning', code: 'field_left_out', detail });
  };
}
