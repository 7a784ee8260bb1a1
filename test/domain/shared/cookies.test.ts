import { describe, expect, it } from 'vitest';
import { cookiePair, cookiePairs } from '../../../src/domain/shared/message-fields.js';

describe('a Cookie header field', () => {
  it.each([
    ['is absent', undefined, ['']],
    ['holds one cookie', 'a=1', ['a=1']],
    ['has odd blanks and empty pairs', ' a=1;;  b=2 ;', ['a=1', '', 'b=2', '']],
    ['is repeated', ['a=1; b=2', 'c=3'], ['a=1', 'b=2', 'c=3']],
  ])('is split into pairs when it %s', (_what, field, pairs) => {
    expect(cookiePairs(field)).toEqual(pairs);
  });

  it('keeps equals signs in a value', () => {
    expect(cookiePair('token=abc==')).toEqual(['token', 'abc==']);
    expect(cookiePair('flag')).toEqual(['flag', '']);
  });
});
