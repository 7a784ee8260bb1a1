// A test of a site, as Jest loads it: CommonJS, with `require`.
const { createServer } = require('node:http');
const { createToolkit } = require('agent-bff');
const { createNodeHandler } = require('agent-bff/node');
const { FakeIdentityProvider } = require('agent-bff/testing');

// The package is compiled when it is first used.
jest.setTimeout(120_000);

test('a visitor sends a message', async () => {
  const serviceAccount = { serviceAccountId: 'site', privateKeyPem: process.env.SERVICE_ACCOUNT_PRIVATE_KEY };
  const addresses = { a2aUrl: process.env.A2A_URL, serviceApiUrl: process.env.SERVICE_API_URL };
  const kinds = [{ serviceAuthStrategy: 'service_account', serviceAccount }, { serviceAuthStrategy: 'demo' }];
  for (const kind of kinds) {
    const identityProviders = { demo: new FakeIdentityProvider('demo') };
    const toolkit = createToolkit({ ...addresses, ...kind }, { identityProviders });
    const server = createServer(createNodeHandler({ toolkit }));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const response = await fetch(`http://127.0.0.1:${server.address().port}/api/a2a`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}',
      });
      expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { kind: 'message' } });
    } finally {
      server.close();
      server.closeAllConnections();
      await toolkit.close();
    }
  }
});
