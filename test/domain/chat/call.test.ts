import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type A2ACall, readRestCall, readRpcCall } from '../../../src/domain/chat/call.js';
import { sentBytes } from '../../../src/domain/chat/sent-message.js';
import { restPath, type RestPath } from '../../../src/domain/chat/rest-paths.js';

const encoder = new TextEncoder();

/** Members with short names, without the braces. */
function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${String(index)}":0`).join(',');
}

function read(text: string, isStrict: boolean = true): A2ACall {
  return readRpcCall(encoder.encode(text), '', isStrict);
}

/** The text that is sent. */
function sent(text: string, isStrict?: boolean): string {
  return new TextDecoder().decode(sentBytes(read(text, isStrict), { rules: undefined, own: '' }) ?? undefined);
}

/** A request from JSON text. */
function rpc(params: string, more = ''): string {
  return `{"jsonrpc":"2.0","id":1,"method":"SendMessage"${more},"params":${params}}`;
}

/** The fault of a message as JSON-RPC code and text; undefined when all parsers read it alike. */
function fault(text: string, isStrict?: boolean): readonly [number | undefined, string] | undefined {
  const error = read(text, isStrict).fault;
  const hint = 'Send one A2A request with each member once, under its name in the specification.';
  if (error !== undefined) expect(error).toMatchObject({ name: 'RequestError', code: 'body_invalid', hint });
  return error === undefined ? undefined : [error.rpcCode, error.detail];
}

const twice = (member: string): string => `The member "${member}" appears twice.`;
const resembles = (member: string): string => `A member resembles "${member}" but is spelled differently.`;
const noObject = (member: string): string => `The member "${member}" is not an object.`;

/** Members of each level, with a function that puts more members at that level. */
const LEVELS: readonly (readonly [
  level: string,
  rpcCode: number,
  members: readonly string[],
  wrap: (more: string) => string,
])[] = [
  ['the envelope', -32600, ['jsonrpc', 'id', 'method', 'params'], (more) => `{"x":0,${more}}`],
  [
    '"params"',
    -32602,
    ['message', 'configuration', 'metadata', 'tenant', 'id', 'historyLength', 'contextId', 'name', 'taskId'],
    (more) => rpc(`{${more}}`),
  ],
  [
    '"message"',
    -32602,
    ['messageId', 'contextId', 'taskId', 'role', 'parts', 'metadata', 'extensions', 'referenceTaskIds', 'kind'],
    (more) => rpc(`{"message":{${more}}}`),
  ],
  [
    '"configuration"',
    -32602,
    ['acceptedOutputModes', 'blocking', 'historyLength', 'returnImmediately', 'pushNotificationConfig'],
    (more) => rpc(`{"configuration":{${more}}}`),
  ],
];
const MEMBERS = LEVELS.flatMap(([level, rpcCode, members, wrap]) =>
  members.map((member) => ({ level, rpcCode, member, wrap })),
);

/** Spellings that some parsers accept as the name. */
const LOOKALIKES: readonly (readonly [what: string, spell: (name: string) => string | undefined])[] = [
  ['in capitals', (name) => name.toUpperCase()],
  ['with a capital first', (name) => name.charAt(0).toUpperCase() + name.slice(1)],
  ['with the long s that Go reads as s', (name) => (name.includes('s') ? name.replace('s', '\u017F') : undefined)],
  ['with that letter as an escape', (name) => (name.includes('s') ? name.replace('s', '\\u017f') : undefined)],
  ['with the Kelvin sign', (name) => (name.includes('k') ? name.replace('k', '\u212A') : undefined)],
  ['with a dotless i', (name) => (name.includes('i') ? name.replace('i', '\u0131') : undefined)],
  ['in full width', (name) => String.fromCodePoint((name.codePointAt(0) ?? 0) + 0xfee0) + name.slice(1)],
  ['with a combining accent', (name) => `${name}\u0301`],
  ['with a trailing space', (name) => `${name} `],
  ['with a trailing NUL', (name) => `${name}\\u0000`],
  ['with a NUL and more', (name) => `${name}\\u0000x`],
  ['with a NUL inside', (name) => `${name.slice(0, 1)}\\u0000${name.slice(1)}`],
  ['with an invisible space inside', (name) => `${name.slice(0, 1)}\u200B${name.slice(1)}`],
  [
    'with hyphens',
    (name) => (/[A-Z]/.test(name) ? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : undefined),
  ],
  ['with an underscore before', (name) => `_${name}`],
];

describe('a member that agents act on', () => {
  it.each(MEMBERS)('of $level is sent once when repeated, with its last value: $member', ({ member, wrap }) => {
    const text = sent(wrap(`"${member}":"first","${member}":"second"`));
    expect(text).toContain(`"${member}":"second"`);
    expect(text).not.toContain('first');
  });

  it.each(MEMBERS)('of $level is sent under its name when that was escaped: $member', ({ member, wrap }) => {
    const escaped = `\\u${(member.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}${member.slice(1)}`;
    expect(sent(wrap(`"${escaped}":null`))).toContain(`"${member}":null`);
  });

  it('counts by its last value', () => {
    const text =
      '{"id":1,"method":"tasks/get","params":{"id":"a"},"params":{"id":"b","id":"c","tenant":"x","tenant":"y"},"method":"tasks/cancel","id":2}';
    expect(read(text)).toMatchObject({ id: '2', method: 'CancelTask', kind: 'reads', taskId: 'c', tenants: ['y'] });
    expect(sent(text)).toBe('{"id":2,"method":"tasks/cancel","params":{"id":"c","tenant":"y"}}');
  });

  it.each(MEMBERS)('of $level is rejected in any other spelling: $member', ({ member, rpcCode, wrap }) => {
    const own = wrap(`"${member}":null`);
    if (member === 'method') expect(fault(own)?.[1]).toBe('The request has no "method", or one that is not a string.');
    else if (!own.startsWith('{"x"')) expect(fault(own)).toBeUndefined();
    for (const [what, spell] of LOOKALIKES) {
      const name = spell(member);
      if (name === undefined) continue;
      expect(fault(wrap(`"${name}":null`)), what).toEqual([rpcCode, resembles(member)]);
    }
    const half = wrap('"x\\ud800":null');
    if (!half.startsWith('{"x":0')) expect(fault(half)).toEqual([rpcCode, 'A name is not valid Unicode.']);
  });

  it.each([
    ['messageId', 'message_id', (more: string) => rpc(`{"message":{${more}}}`)],
    ['referenceTaskIds', 'reference_task_ids', (more: string) => rpc(`{"message":{${more}}}`)],
    ['historyLength', 'history_length', (more: string) => rpc(`{${more}}`)],
    ['acceptedOutputModes', 'accepted_output_modes', (more: string) => rpc(`{"configuration":{${more}}}`)],
    ['message', 'request', (more: string) => rpc(`{${more}}`)],
  ])('may be spelled "%s" or "%s", but not both in the same message', (member, twin, wrap) => {
    expect(fault(wrap(`"${twin}":null`))).toBeUndefined();
    expect(fault(wrap(`"${member}":null,"${twin}":null`))).toEqual([-32602, twice(member)]);
    expect(fault(wrap(`"${twin}":null,"${member}":null`))).toEqual([-32602, twice(member)]);
  });

  it.each(['"__proto__"', '"\\u005f_proto__"'])('cannot be hidden in %s', (name) => {
    expect(fault(`{${name}:{},"method":"SendMessage"}`)).toEqual([-32600, resembles('__proto__')]);
    expect(fault(rpc(`{${name}:{"configuration":{}}}`))).toEqual([-32602, resembles('__proto__')]);
  });

  it.each(['[]', '"{}"', '1', 'true', 'false', '[{}]'])('that must be an object is rejected as %s', (value) => {
    expect(fault(rpc(value))).toEqual([-32602, noObject('params')]);
    expect(fault(rpc(`{"message":${value}}`))).toEqual([-32602, noObject('message')]);
    expect(fault(rpc(`{"request":${value}}`))).toEqual([-32602, noObject('message')]);
    expect(fault(rpc(`{"configuration":${value}}`))).toEqual([-32602, noObject('configuration')]);
  });

  it('may be null or absent', () => {
    for (const params of ['null', '{}', '{"message":null,"configuration":null}'])
      expect(fault(rpc(params))).toBeUndefined();
    expect(fault('{"method":"GetTask"}')).toBeUndefined();
  });

  it('is checked at any position, even after unchecked ones', () => {
    const text = rpc(
      '{"x":[{"message":{"a":1,"a":2}}],"message":{"parts":[{"text":"}{"}],"taskId":"1","task_id":"2"}}',
    );
    expect(fault(text)).toEqual([-32602, twice('taskId')]);
  });
});

describe('unchecked content', () => {
  it.each([
    ['unknown names', rpc('{"x":1,"X":2,"x":3,"method":"ListTasks","jsonrpc":[]}')],
    ['an extension URI', rpc('{"message":{"metadata":{"https://example.com/ext/v1":{"a":1,"A":2}}}}')],
    [
      'parts',
      rpc('{"message":{"parts":[{"text":"a","Text":"b","text":"c"},{"data":{"message":[],"configuration":7}}]}}'),
    ],
    ['metadata', rpc('{"metadata":{"configuration":{"pushNotificationConfig":{"url":"https://a.example"}}}}')],
    ['half a surrogate pair', rpc('{"message":{"parts":[{"text":"\\ud83d"}]}}')],
    ['escape sequences in values', '{"method":"Send\\u004dessage","params":{"message":{"messageId":"\\u006d"}}}'],
    ['the version', '{"jsonrpc":2,"method":"SendMessage"}'],
    ['big numbers', rpc('{"historyLength":123456789012345678901234567890,"metadata":{"n":1e400}}')],
  ])('is forwarded: %s', (_what, text) => {
    expect(read(text)).toMatchObject({ method: 'SendMessage', kind: 'starts', hasPush: false, fault: undefined });
    expect(JSON.parse(sent(text))).toEqual(JSON.parse(text));
  });

  it.each(['[]', '"x"', '{"Message":{}}', '{"message":1,"request":2}', `{"message":{${members(1_001)}}}`])(
    'is forwarded under a policy that denies nothing: the parameters %s',
    (params) => {
      expect(fault(rpc(params), false)).toBeUndefined();
      expect(fault(rpc(params, ',"Params":1,"ID":2'), false)).toBeUndefined();
    },
  );
});

describe('a webhook in a message', () => {
  const NAMES = ['pushNotification', 'pushNotificationConfig', 'taskPushNotificationConfig'];
  const TWINS = ['push_notification', 'push_notification_config', 'task_push_notification_config'];

  it.each([...NAMES, ...TWINS])('is found as %s with any value', (name) => {
    for (const value of ['{"url":"https://a.example"}', '{}', '[]', '"x"', 'false', '0']) {
      expect(read(rpc(`{"configuration":{"${name}":${value}}}`)).hasPush, value).toBe(true);
      expect(read(rpc(`{"${name}":${value}}`)).hasPush, value).toBe(true);
    }
  });

  it('is found under a likely future name', () => {
    expect(read(rpc('{"configuration":{"pushNotificationConfigs":[{}]}}')).hasPush).toBe(true);
  });

  it('is absent when null', () => {
    for (const name of [...NAMES, ...TWINS]) {
      expect(read(rpc(`{"configuration":{"${name}": null}}`))).toMatchObject({ hasPush: false });
    }
  });

  it('is not found in metadata, a part or a message', () => {
    const hook = '{"pushNotificationConfig":{"url":"https://a.example"}}';
    for (const params of [`{"metadata":${hook}}`, `{"message":${hook}}`, `{"message":{"parts":[{"data":${hook}}]}}`]) {
      expect(read(rpc(params)).hasPush).toBe(false);
    }
  });
});

describe('the id of a request', () => {
  it.each([
    ['0', '0'],
    ['9', '9'],
    ['-1.50', '-1.50'],
    ['12345678901234567890', '12345678901234567890'],
    ['"a"', '"a"'],
    ['1.0', '1.0'],
    ['1e5', '1e5'],
    ['-0', '-0'],
    ['"\\u00e9 \\n"', '"é \\n"'],
    ['"é\u2028"', '"é\u2028"'],
    ['null', 'null'],
  ])('is repeated by its value, a number as it is written: %s', (written, id) => {
    expect(read(`{"method":"GetTask","id": ${written} }`)).toMatchObject({ id, method: 'GetTask', fault: undefined });
  });

  it('has at most 256 characters', () => {
    const id = `"${'\\u0069'.repeat(256)}"`;
    expect(read(`{"method":"GetTask","id":${id}}`)).toMatchObject({ id: `"${'i'.repeat(256)}"`, fault: undefined });
    const number = '1'.repeat(256);
    expect(read(`{"method":"GetTask","id":${number}}`)).toMatchObject({ id: number, fault: undefined });
  });

  it.each([
    '{}',
    '[1]',
    'true',
    'false',
    `"${'i'.repeat(257)}"`,
    '1'.repeat(257),
    `"${'i'.repeat(2_000)}"`,
    '1'.repeat(2_000),
    '"\\ud800"',
  ])('cannot be %s', (id) => {
    const detail = 'The "id" is not a string or number of at most 256 characters.';
    expect(read(`{"method":"GetTask","id":${id}}`)).toMatchObject({ id: 'null', fault: { rpcCode: -32600, detail } });
    const open = read(`{"method":"GetTask","id":${id}}`, false);
    expect(open).toMatchObject({ id: 'null', method: 'GetTask', fault: undefined });
  });

  it('is known for a message with a fault at any position', () => {
    expect(read('{"params":[],"method":"SendMessage","id":"late"}').id).toBe('"late"');
    expect(read('{"id":"early","method":7}').id).toBe('"early"');
  });

  it('is not that of the task', () => {
    expect(read(rpc('{"id":"task-1"}')).id).toBe('1');
  });
});

describe('the tenant of a message', () => {
  it.each<[string, string[]]>([
    ['"acme"', ['acme']],
    ['null', []],
    ['""', []],
    ['7', ['\0']],
    ['7.0', ['\0']],
    ['["acme"]', ['\0']],
    [`"${'t'.repeat(2_000)}"`, ['t'.repeat(2_000)]],
  ])('is not that of any card unless it is a text: %s', (tenant, tenants) => {
    expect(read(rpc(`{"tenant":${tenant}}`)).tenants).toEqual(tenants);
  });
});

describe('the ids that a message names', () => {
  it.each<[string, object]>([
    ['{}', {}],
    ['{"message":{"contextId":"c1"}}', { contextId: 'c1' }],
    ['{"message":{"contextId":"c1","taskId":"t1"},"id":"t2"}', { contextId: 'c1', taskId: 't1' }],
    ['{"request":{"contextId":"c1"},"id":"t2"}', { contextId: 'c1', taskId: 't2' }],
    ['{"message":{"contextId":"","taskId":""},"id":"t2"}', { contextId: '', taskId: 't2' }],
    ['{"message":{"contextId":7.0,"taskId":["t1"]},"id":null}', {}],
    ['{"message":{"contextId":"\\ud800"}}', {}],
    [`{"message":{"contextId":"${'x'.repeat(16_384)}"}}`, { contextId: 'x'.repeat(16_384) }],
    [`{"message":{"contextId":"${'x'.repeat(16_385)}"}}`, {}],
  ])('in %s are %j', (params, names) => {
    for (const isStrict of [true, false]) {
      const { contextId, taskId } = read(rpc(params), isStrict);
      expect({ contextId, taskId }).toEqual({ contextId: undefined, taskId: undefined, ...names });
    }
  });
});

describe('the method of a request', () => {
  it.each(['7', '7.0', 'null', '{}', '["ListTasks"]', 'true', '"\\ud800"'])('cannot be %s', (method) => {
    const text = `{"id":1,"method":${method}}`;
    expect(fault(text)).toEqual([-32600, 'The request has no "method", or one that is not a string.']);
    expect(read(text, false)).toMatchObject({ id: '1', method: '', fault: undefined });
  });

  it('is empty when too long', () => {
    expect(read(`{"method":"${'m'.repeat(257)}"}`)).toMatchObject({ method: '' });
    expect(read(`{"method":"${'m'.repeat(256)}"}`)).toMatchObject({ method: 'm'.repeat(256), kind: 'other' });
  });

  it('is checked under every policy', () => {
    for (const isStrict of [true, false]) {
      expect(fault('{"method":"GetTask","METHOD":"x"}', isStrict)).toEqual([-32600, resembles('method')]);
    }
  });
});

describe('a text that is not a single message', () => {
  it.each([
    '',
    ' ',
    '{',
    '{}}',
    '{"method":"GetTask"',
    "{'method':'GetTask'}",
    '{"method":"GetTask",}',
    '\uFEFF{}',
    '{}\n{}',
    '{"a":NaN}',
  ])('is rejected as invalid JSON: %j', (text) => {
    for (const isStrict of [true, false]) {
      expect(read(text, isStrict)).toMatchObject({
        binding: 'JSONRPC',
        id: 'null',
        method: '',
        hasPush: false,
        fault: {
          code: 'body_invalid',
          rpcCode: undefined,
          detail: 'The request body is not JSON in UTF-8.',
          hint: 'Send one JSON object.',
        },
      });
    }
  });

  it('is rejected as invalid UTF-8', () => {
    const utf16 = new Uint8Array(Buffer.from('{"method":"ListTasks"}', 'utf16le'));
    for (const bytes of [Uint8Array.of(0x22, 0xff, 0x22), utf16]) {
      expect(readRpcCall(bytes, '', false).fault?.detail).toBe('The request body is not JSON in UTF-8.');
    }
  });

  it.each(['[]', 'null', '"GetTask"', '1', '[{"method":"GetExtendedAgentCard"}]'])(
    'is rejected as not an object: %s',
    (text) => {
      for (const isStrict of [true, false]) {
        expect(fault(text, isStrict)).toEqual([-32600, 'The message is not one JSON object.']);
      }
    },
  );

  it.each<[string, string]>([
    ['['.repeat(1_001) + ']'.repeat(1_001), 'The message is nested deeper than 1000 levels.'],
    [`[${'{},'.repeat(20_000)}0]`, 'The message has more than 20000 values.'],
  ])('is rejected with -32602 and its id for too many levels or values: %#', (value, detail) => {
    const hint = 'Send less, or the data as a text or a file.';
    for (const isStrict of [true, false]) {
      const late = read(`{"x":[1],"id":5,"method":"GetTask","params":${value}}`, isStrict);
      expect(late).toMatchObject({ id: '5', fault: { code: 'body_invalid', rpcCode: -32602, detail, hint } });
      // What follows is not read.
      expect(read(`{"params":${value},"id":5}`, isStrict)).toMatchObject({ id: 'null', fault: { detail } });
      expect(read(value, isStrict)).toMatchObject({ id: 'null', fault: { detail } });
    }
  });

  it('is rejected for too many members or too long a name', () => {
    const many = members(1_001);
    const detail = 'The message has too many members, or one with a name that is too long.';
    expect(fault(rpc(`{${many}}`))).toEqual([-32602, detail]);
    expect(fault(rpc(`{"message":{"${'n'.repeat(257)}":0}}`))).toEqual([-32602, detail]);
    expect(fault(rpc(`{"message":{${members(999)},"${'n'.repeat(256)}":0}}`))).toBeUndefined();
    expect(fault(rpc(`{"message":{"parts":[{${many}}],"metadata":{"${'n'.repeat(257)}":0}}}`))).toBeUndefined();
  });
});

describe('a call of the HTTP+JSON binding', () => {
  const SEND = restPath('/message:send') as RestPath;
  const readBody = (text: string): A2ACall => {
    const body = { bytes: encoder.encode(text), type: 'application/json' };
    return readRestCall(SEND, { method: 'POST', query: '' }, body, true);
  };

  it('has a body that is judged like the parameters of JSON-RPC', () => {
    const fine = readBody('{"message":{"contextId":"c1"},"configuration":{"blocking":true}}');
    expect(fine).toMatchObject({ method: 'SendMessage', kind: 'starts', isOld: false, contextId: 'c1' });
    expect(fine).toMatchObject({ id: 'null', hasPush: false, fault: undefined });
    expect(readBody('{"configuration":{"pushNotificationConfig":{}}}').hasPush).toBe(true);
    expect(readBody('{"Message":{}}').fault).toMatchObject({ rpcCode: -32602, detail: resembles('message') });
    for (const text of ['[]', '1.0', 'null']) expect(readBody(text).fault).toMatchObject({ rpcCode: -32602 });
  });

  it('has its method, task and tenants from its path, its body and its query', () => {
    const path = restPath('/acme/tasks/7:cancel') as RestPath;
    const body = { bytes: encoder.encode('{"id":"8","tenant":"b"}'), type: 'application/a2a+json' };
    const call = readRestCall(path, { method: 'POST', query: '?Tenant=c&tenant=' }, body, true);
    expect(call).toMatchObject({ kind: 'reads', taskId: '7', tenants: ['acme', 'b', 'c'] });
    expect(call.body).toMatchObject({ taskId: '8', type: 'application/a2a+json' });
    const old = restPath('/v1/card') as RestPath;
    const bare = readRestCall(old, { method: 'GET', query: '' }, undefined, true);
    expect(bare).toMatchObject({ kind: 'card', isOld: true, tenants: [] });
    expect(bare.body).toBeUndefined();
    const other = readRestCall(SEND, { method: 'DELETE', query: '' }, undefined, true);
    expect(other).toMatchObject({ method: '', kind: 'other', tenants: [] });
  });
});

describe('any text', () => {
  it('is read without an exception, and when accepted, as JSON.parse reads it', () => {
    const name = fc.constantFrom(
      'method',
      'params',
      'id',
      'message',
      'configuration',
      'Method',
      'pushNotificationConfig',
      'metho\\u0064',
      'x',
    );
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('1', 'null', '"SendMessage"', '"ListTasks"', '[]', '{}', '"\\ud800"'),
        fc
          .array(fc.tuple(name, tie('value')), { maxLength: 4 })
          .map((members) => `{${members.map(([key, inner]) => `"${key}":${inner}`).join(',')}}`),
      ),
    }));
    fc.assert(
      fc.property(value, (text) => {
        const message = read(text);
        if (message.fault !== undefined) return;
        const parsed = JSON.parse(text) as {
          method: unknown;
          id?: unknown;
          params?: { configuration?: object } | null;
        };
        expect(message.method).toBe(parsed.method);
        expect(JSON.parse(message.id)).toEqual(parsed.id ?? null);
        const hooks = [parsed.params, parsed.params?.configuration].map(
          (place) => (place as { pushNotificationConfig?: unknown } | null | undefined)?.pushNotificationConfig ?? null,
        );
        expect(message.hasPush).toBe(hooks.some((hook) => hook !== null));
      }),
      { numRuns: 10_000 },
    );
  });
});
