import { expect, it } from 'vitest';
import { createNodeHandler } from '../../src/composition/node.js';

// No toolkit exists in this file.

it.each<[object, string]>([
  [{ a2aUrl: 'https://agent.example' }, 'It is a field of the configuration: pass "a2aUrl" to configureServer.'],
  [{ conversations: 'visitor' }, 'Did you mean "a2a.conversations"?'],
  [{ a2a: { forward: { request: ['cookie'] } } }, '"cookie" never is.'],
  [{ a2a: { strategy: 'okta' } }, 'Known values: service_account'],
])('before configureServer, explains an option that cannot be used: %j', (options, hint) => {
  expect(() => createNodeHandler(options as never)).toThrow(hint);
});
