import { expect, it } from 'vitest';
import '../../src/adapters/undici/undici-upstream.js';

it('the calls of the site leave the process its own dispatcher for fetch', () => {
  expect(Symbol.for('undici.globalDispatcher.1') in globalThis).toBe(false);
});
