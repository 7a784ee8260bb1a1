import { describe, expect, it } from 'vitest';
import { isBodiless } from '../../../src/domain/shared/body.js';

describe('a response', () => {
  it.each([
    ['HEAD', 200, true],
    ['GET', 204, true],
    ['POST', 205, true],
    ['GET', 304, true],
    ['GET', 200, false],
    ['POST', 500, false],
  ])('to %s with status %i has no body: %s', (method, status, bodiless) => {
    expect(isBodiless(method, status)).toBe(bodiless);
  });
});
