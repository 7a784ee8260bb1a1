import { describe, expect, it } from 'vitest';
import { ConfigurationError, RequestError } from '../../../src/domain/shared/errors.js';
import { flag, text } from '../../../src/domain/shared/options.js';
import { type Secret, secret } from '../../../src/domain/shared/secret.js';
import {
  firstFilled,
  hasFields,
  invalidField,
  revealed,
  row,
  secretRow,
  textRow,
  valuesOf,
  withVariables,
} from '../../../src/domain/shared/setting.js';
import { settingsIn } from '../../support/settings.js';

const variables = (block: string, fields: readonly string[]): string => ` Variables of ${block}: ${fields.join(', ')}.`;

describe('the error for an invalid field', () => {
  it.each([
    [[], 'configureServer'],
    [['idpA'], 'idpA'],
  ])('names its block: %j', (block, named) => {
    const error = invalidField('clientId', 'It is wrong.', 'Set it.', ...block);
    expect(error).toMatchObject({
      code: 'configuration_invalid',
      message: 'It is wrong. Set it.',
      block: named,
      fields: ['clientId'],
    });
  });
});

describe('an error whose fields have environment variables', () => {
  const facts = { detail: 'It is wrong.', hint: 'Set it.', fields: ['clientId'], retryable: true, retryAfterMs: 5 };

  it.each([
    ['idpA', 'Set it. Variables of idpA: clientId.'],
    [undefined, 'Set it. Variables of configureServer: clientId.'],
  ])('names them once in a copy, by its block %s', (block, hint) => {
    const error = new RequestError('rate_limited', { ...facts, log: 'at idp.internal', ...(block && { block }) });
    const copy = withVariables(error, variables);
    expect(copy).toMatchObject({ ...facts, code: 'rate_limited', hint, message: `It is wrong. ${hint}`, block });
    expect([copy instanceof RequestError, copy.logDetail(), error.hint]).toEqual([true, 'at idp.internal', 'Set it.']);
    expect(withVariables(copy, variables)).toBe(copy);
  });

  it.each<[string, unknown, typeof variables | undefined]>([
    ['there are no variables', new ConfigurationError(facts), undefined],
    ['its fields have none', new ConfigurationError(facts), () => ''],
    ['it has no hint', new ConfigurationError({ detail: 'It is wrong.' }), variables],
    ['it belongs to someone else', new TypeError('It is wrong.'), variables],
  ])('is returned as it is when %s', (_when, error, hint) => {
    expect(withVariables(error, hint)).toBe(error);
  });
});

describe('the row of a field', () => {
  it.each([
    ['a text', textRow('principal', 'CLIENT_ID'), 'principal', 'CLIENT_ID', 'a', ''],
    ['a secret', secretRow('CLIENT_SECRET'), 'proof', 'CLIENT_SECRET', secret('a'), secret('')],
  ])('for %s has its side, variable and check, and is empty by default', (_what, made, side, variable, read, empty) => {
    expect(made).toMatchObject({ side, variable, check: text });
    expect([made.read('a'), made.read(undefined)].map(shown)).toEqual([read, empty].map(shown));
  });

  it('reads a value as its function does', () => {
    const made = row('neither', flag, (value?: boolean) => (value === true ? 1 : 0));
    expect(made).toMatchObject({ side: 'neither', check: flag, variable: undefined });
    expect([made.read(true), made.read(undefined)]).toEqual([1, 0]);
  });
});

/** A value with its constructor, which distinguishes a secret from a text. */
function shown(value: string | Secret): readonly unknown[] {
  return [value.constructor.name, revealed(settingsIn('idpA', { value }).value)];
}

describe('a value with fields', () => {
  it.each([
    ['an object', {}, true],
    ['an object without a prototype', Object.create(null), true],
    ['a list', [], false],
    ['a promise', Promise.resolve({}), false],
    ['a map', new Map(), false],
    ['an address', new URL('https://a.example'), false],
    ['null', null, false],
    ['a text', 'a', false],
  ])('%s: %s', (_what, value, expected) => {
    expect(hasFields(value)).toBe(expected);
  });

  it('may be a module', async () => {
    expect(hasFields(await import('../../../src/domain/shared/secret.js'))).toBe(true);
  });
});

describe('settings', () => {
  it('are read without their blocks', () => {
    expect(valuesOf(settingsIn('idpA', { clientId: 'a', retries: 3 }))).toEqual({ clientId: 'a', retries: 3 });
  });

  it.each([
    ['a text', 'a', 'a'],
    ['a secret', secret('hunter2'), 'hunter2'],
    ['a number', 3, ''],
    ['an absent value', undefined, ''],
  ])('have as text, of %s: %j', (_what, value, expected) => {
    expect(revealed(settingsIn('idpA', { value }).value)).toBe(expected);
  });

  it.each([
    [['a', 'b', ''], 0],
    [['', 'b', 'c'], 1],
    [['', '', ''], 2],
    [[''], 0],
  ])('%j: the one that counts is at %i', (values, place) => {
    const [setting, ...others] = values.map((value) => settingsIn('idpA', { value }).value);
    if (setting === undefined) throw new Error('no setting');
    expect(firstFilled(setting, ...others)).toBe([setting, ...others][place]);
  });
});
