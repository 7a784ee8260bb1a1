import { describe, expect, it } from 'vitest';
import {
  CONNECTION_FIELDS,
  cookiePair,
  cookiePairs,
  MESSAGE_FIELDS,
} from '../../../src/domain/shared/message-fields.js';

describe('a Cookie header field', () => {
  it.each([
    ['is absent', undefined, ['']],
    ['holds one cookie', 'a=1', ['a=1']],
    ['has odd blanks and empty pairs', ' a=1;;  b=2 ;', ['a=1', '', 'b=2', '']],
    ['has tabs, and blanks that belong to a name', '\t a=1\t;\u00a0b=2\u00a0', ['a=1', '\u00a0b=2\u00a0']],
    ['is repeated', ['a=1; b=2', 'c=3'], ['a=1', 'b=2', 'c=3']],
  ])('is split into pairs when it %s', (_what, field, pairs) => {
    expect(cookiePairs(field)).toEqual(pairs);
  });

  it.each([
    ['token=abc==', 'token', 'abc=='],
    ['=a', '', 'a'],
    [' a =\t1 ', 'a', '1'],
    [' flag\t', 'flag', ''],
    [' \t ', '', ''],
  ])('has in %j the name "%s" and the value "%s"', (pair, name, value) => {
    expect(cookiePair(pair)).toEqual([name, value]);
  });
});

it('the header fields of a connection and of one message are never those of the caller', () => {
  const ofConnection = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'];
  expect([...CONNECTION_FIELDS]).toEqual(ofConnection);
  expect([...MESSAGE_FIELDS]).toEqual([...ofConnection, 'content-length', 'host', 'te', 'trailer']);
});
