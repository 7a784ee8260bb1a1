import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/domain/shared/errors.js';
import {
  callback,
  flag,
  headerKey,
  methods,
  type OptionCheck,
  type OptionShape,
  readOptions,
  type Refusal,
  text,
  texts,
  wholeNumber,
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
    expect(() => read(Object.create({ name: 'a' }))).toThrow(
      'Invalid value for "options" of makeThings. Set it to an object.',
    );
  });

  it('may have an object as value, which is passed as it is', () => {
    const options = { value: { of: 'a' } };
    expect(readOptions('makeThings', { options: { value: anything } }, options)).toStrictEqual(options);
  });

  it('may require an options object', () => {
    const shape: OptionShape<'inner'> = { options: { inner: { options: {} } }, required: ['inner'] as never };
    expect(() => readOptions<{ readonly inner?: object }>('makeThings', shape, {})).toThrow(
      'Missing option "inner" of makeThings. Set it to an object.',
    );
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
    for (const inner of [[], null, 'a']) {
      expect(() => read({ inner })).toThrow('Invalid value for "inner" of makeThings. Set it to an object.');
    }
    expect(() => read({ inner: { redy: true } })).toThrow('"inner.redy" of makeThings. Did you mean "inner.ready"?');
    expect(() => read({ zzz: 1 })).toThrow('Known options: name, ready, find, names, inner.');
  });

  it('are refused by an error of the caller', () => {
    const refuse: Refusal = ({ maker }, problem, names, hint) =>
      new ConfigurationError({ detail: `${maker}: ${problem} ${names.join()}`, hint, block: 'ours' });
    expect(() => readOptions('makeThings', SHAPE, { nam: 'a' } as Options, {}, refuse)).toThrow(
      expect.objectContaining({
        detail: 'makeThings: Unknown option nam',
        hint: 'Did you mean "name"?',
        block: 'ours',
      }),
    );
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

describe('an option with an alias', () => {
  interface Aliased {
    readonly source?: string;
    readonly from?: string;
    readonly names?: readonly string[];
  }
  const shape: OptionShape<keyof Aliased> = {
    options: { source: text, from: text, names: texts },
    required: ['source'],
    aliases: { source: 'from' },
    exclusive: [['source', 'names']],
  };
  const readAliased = (options: object): object => readOptions<Aliased>('makeThings', shape, options);

  it.each([
    [{ source: 'a' }, { source: 'a' }],
    [{ from: 'a' }, { source: 'a' }],
    [{ source: '', from: 'a' }, { source: 'a' }],
  ])('is read from either name: %j', (options, result) => {
    expect(readAliased(options)).toStrictEqual(result);
  });

  it.each([
    [{}, 'Missing option "source" of makeThings.', 'Set it to a string.', ['source']],
    [{ from: '' }, 'Missing option "source" of makeThings.', 'Set it to a string.', ['source']],
    [{ from: 1 }, 'Invalid value for "from" of makeThings.', 'Set it to a string.', ['from']],
    [
      { source: 'a', from: 'a' },
      'Conflicting options "source" and "from" of makeThings.',
      'Keep one of them.',
      ['source', 'from'],
    ],
    [
      { from: 'a', names: [] },
      'Conflicting options "from" and "names" of makeThings.',
      'Keep one of them.',
      ['from', 'names'],
    ],
  ])('is named as the site wrote it: %j', (options, detail, hint, fields) => {
    expect(() => readAliased(options)).toThrow(expect.objectContaining({ detail, hint, block: 'makeThings', fields }));
  });
});

describe('the value of an option', () => {
  it.each<[string, OptionCheck, readonly unknown[], readonly unknown[]]>([
    ['a string', text, ['', 'a'], [1, undefined]],
    ['true or false', flag, [true, false], ['true', 0]],
    ['a function', callback, [anything], [{}, 'a']],
    ['a list of strings', texts, [[], ['a', 'b']], ['a', ['a', 1], undefined]],
    ['a whole number from 0', wholeNumber, [0, 7], [-1, 0.5, '7', NaN, 2 ** 53]],
    ['the key alone: ASCII, no spaces', headerKey, ['a', '!~'], ['', ' a', 'a b', 'a\n', 'é', '\x7f', 7]],
    [
      'an object with get and set',
      methods('get', 'set'),
      [{ get: anything, set: anything }],
      [{ get: anything, set: 2 }, {}, null, undefined, 'text'],
    ],
  ])('is accepted only when it is %s', (words, check, valid, invalid) => {
    expect(valid.map((value) => check(value, {}))).toEqual(valid.map(() => undefined));
    expect(invalid.map((value) => check(value, {}))).toEqual(invalid.map(() => `Set it to ${words}.`));
  });
});
