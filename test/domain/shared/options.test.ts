import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/domain/shared/errors.js';
import {
  callback,
  flag,
  methods,
  text,
  texts,
  type OptionShape,
  readOptions,
} from '../../../src/domain/shared/options.js';

const anything = (): undefined => undefined;

interface Options {
  readonly name?: string | undefined;
  readonly ready?: boolean | undefined;
  readonly find?: (() => string) | undefined;
  readonly names?: readonly string[] | undefined;
  readonly inner?: { readonly ready?: boolean | undefined } | undefined;
}

const SHAPE: OptionShape<keyof Options> = {
  options: { name: text, ready: flag, find: callback, names: texts, inner: { options: { ready: flag } } },
  exclusive: [['name', 'ready', 'find']],
  needs: { names: 'name' },
};

const read = (options: unknown): object => readOptions('makeThings', SHAPE, options as Options);

describe('the options of a function', () => {
  it('are those that are set', () => {
    const options = { name: 'a', ready: undefined, names: ['b'], inner: { ready: true } };
    expect(read(options)).toStrictEqual({ name: 'a', names: ['b'], inner: { ready: true } });
    expect(read({ name: '', inner: '' })).toStrictEqual({});
    expect(read(undefined)).toStrictEqual({});
  });

  it('may come from another realm or have no prototype', () => {
    expect(read(runInNewContext('({ name: "a" })'))).toStrictEqual({ name: 'a' });
    expect(read(Object.assign(Object.create(null) as object, { name: 'a' }))).toStrictEqual({ name: 'a' });
  });

  it('do not include inherited ones', () => {
    expect(() => read(Object.create({ name: 'a' }))).toThrow('Invalid value for "options" of makeThings.');
  });

  it('do not conflict when one of them is false', () => {
    expect(read({ name: 'a', ready: false })).toStrictEqual({ name: 'a', ready: false });
    expect(() => read({ name: 'a', ready: true, find: () => 'b' })).toThrow(
      expect.objectContaining({
        detail: 'Conflicting options "name" and "ready" and "find" of makeThings.',
        fields: ['name', 'ready', 'find'],
      }),
    );
  });

  it('require the options they depend on', () => {
    expect(() => read({ names: [] })).toThrow(
      expect.objectContaining({
        detail: 'Missing option "name" of makeThings.',
        hint: '"names" needs it.',
        fields: ['name', 'names'],
      }),
    );
  });

  it('are rejected with an error that names the function', () => {
    expect(() => read({ nam: 'a' })).toThrow(ConfigurationError);
    expect(() => read({ nam: 'a' })).toThrow(
      expect.objectContaining({
        code: 'configuration_invalid',
        message: 'Unknown option "nam" of makeThings. Did you mean "name"?',
        block: 'makeThings',
        fields: ['nam'],
      }),
    );
    expect(() => read({ inner: [] })).toThrow('Invalid value for "inner" of makeThings. Set it to an object.');
    expect(() => read({ inner: { redy: true } })).toThrow('"inner.redy" of makeThings. Did you mean "inner.ready"?');
    expect(() => read({ zzz: 1 })).toThrow('Known options: name, ready, find, names, inner.');
  });

  it('are checked against the whole options object, or against another one from the caller', () => {
    const shape: OptionShape<'value' | 'most'> = {
      options: {
        most: anything,
        value: (value, all) => (Number(value) > (all as { most: number }).most ? 'No.' : undefined),
      },
    };
    const options = { most: 3, value: 4 };
    expect(() => readOptions('makeThings', shape, options)).toThrow('Invalid value for "value" of makeThings. No.');
    expect(readOptions('makeThings', shape, options, { most: 5 })).toStrictEqual(options);
  });
});

describe('an object with methods', () => {
  it('must have all of them', () => {
    const check = methods('get', 'set');
    expect(check({ get: () => 1, set: () => 2 }, {})).toBeUndefined();
    for (const value of [{ get: () => 1, set: 2 }, {}, null, undefined, 'text']) {
      expect(check(value, {})).toBe('Set it to an object with get and set.');
    }
  });
});
