import type { BrowserFieldRules, LeftOutField, LeftOutReason } from '../../domain/upstream/browser-fields.js';
import type { Telemetry } from '../../ports/telemetry.js';

const REASONS: Readonly<Record<LeftOutReason, string>> = {
  characters: 'characters other than printable ASCII',
  length: 'too long',
  name: 'a name that is not allowed',
  number: 'too many or too long together',
  repeated: 'sent several times; the first is used',
  syntax: 'could not be read',
};

/** Maximum number of reported faults: sites forward few fields, but an odd store may hold many. */
const MAX_KNOWN = 100;

/** Warns once about each field that is left out, by its name and never by its value. */
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
