import type { ChatHandlerOptions, ServerConfig } from 'agent-bff';
import { afterAll, describe, expect, it } from 'vitest';
import {
  makeClientCertificate,
  removeClientCertificates,
  runIdpB,
  type ClientCertificate,
} from '../../support/identity-provider/index.js';
import { applicationSecret, failureOf, identityFetch, startSite } from './credential-site.js';

const WRONG_SECRET = 'a client secret & of another application';

const stranger = makeClientCertificate();
const { idp, cloud } = await runIdpB();
afterAll(removeClientCertificates);

type Block = NonNullable<ServerConfig['idpBService']>;

const config = (idpBService: Block = {}): ServerConfig => {
  const right = applicationSecret(idp);
  return { ...right, idpBService: { ...right.idpBService, ...idpBService } };
};

/** The error a visitor reads. Checks that the agent is not called, and that the visitor sees no secret and no host. */
async function failing(site: ServerConfig, routes: ChatHandlerOptions[]) {
  const running = await startSite(site, { ports: identityFetch(cloud), routes });
  const answer = await running.chat();
  expect(answer.status).toBe(401);
  expect(running.agent.requests).toEqual([]);
  for (const private_ of [WRONG_SECRET, idp.client.secret, idp.host, '127.0.0.1', 'AADSTS', 'agent-bff-certificates'])
    expect(answer.body).not.toContain(private_);
  const failure = failureOf(answer);
  for (const field of failure.fields) expect(failure.message).toContain(field);
  return failure;
}

const refused = (...fields: string[]) => ({
  code: 'service_auth_failed',
  block: 'idpBService',
  fields,
  retryable: false,
});

describe('a wrong value of onBehalfOf', () => {
  async function exchanging(own: NonNullable<ServerConfig['onBehalfOf']>, route: object = {}, right: Block = {}) {
    const token = await idp.issueUserToken('ann');
    const routes = [{ getSessionToken: (_request: unknown) => token, ...route }];
    return failing({ ...config(right), onBehalfOf: own }, routes);
  }
  const own = (...fields: string[]) => ({ code: 'service_auth_failed', block: 'onBehalfOf', fields });
  const pathsOf = ({ certificatePath, privateKeyPath }: ClientCertificate) => ({ certificatePath, privateKeyPath });

  it.each<[string, NonNullable<ServerConfig['onBehalfOf']>, object]>([
    ['a wrong client secret', { clientSecret: WRONG_SECRET }, own('clientSecret')],
    ['an unknown application', { clientId: 'nobody' }, own('clientId')],
    ['an unregistered certificate', pathsOf(stranger), own('certificatePath', 'privateKeyPath')],
  ])('causes a 401 that names block and field: %s', async (_title, block, expected) => {
    const { message, ...failure } = await exchanging(block);
    expect(failure).toMatchObject(expected);
    expect(message).toContain('"onBehalfOf"');
  });

  it('taken from idpBService causes a 401 that names that block, or both blocks of a pair', async () => {
    expect(await exchanging({ scope: idp.scope }, {}, { clientSecret: WRONG_SECRET })).toMatchObject(
      refused('clientSecret'),
    );
    expect(await exchanging({ clientId: 'nobody' })).toMatchObject({
      ...own('clientId'),
      message: expect.stringContaining(
        'Check the "onBehalfOf" configuration block: "clientId"; and the "idpBService" configuration block: "tenantId".',
      ) as string,
    });
  });

  it('as the audience of a route causes a 401 that names the route option', async () => {
    expect(await exchanging({}, { audience: 'api://nowhere' })).toMatchObject({
      block: 'route',
      fields: ['audience'],
      message: expect.stringContaining('Check the options of the route: "audience".') as string,
    });
  });
});
