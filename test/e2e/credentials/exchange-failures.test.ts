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

/** What a visitor reads of one failure; nothing of it reaches the agent, and no secret or host the visitor. */
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

describe('what a signed-in user reads when a value of onBehalfOf is wrong', () => {
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
    ['an unknown tenant', { tenantId: 'contoso.example' }, own('tenantId')],
    ['an unknown API', { scope: 'api://nowhere/.default' }, own('scope')],
    ['a certificate that is not there', { certificatePath: '/nowhere/client.crt' }, own('certificatePath')],
    ['a certificate nobody registered', pathsOf(stranger), own('certificatePath', 'privateKeyPath')],
  ])('%s names onBehalfOf and the field', async (_title, block, expected) => {
    const { message, ...failure } = await exchanging(block);
    expect(failure).toMatchObject(expected);
    expect(message).toContain('"onBehalfOf"');
  });

  it('a value taken from idpBService names that block, and a pair of both names both', async () => {
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

  it('an audience the route asks for names the option of the route', async () => {
    expect(await exchanging({}, { audience: 'api://nowhere' })).toMatchObject({
      block: 'route',
      fields: ['audience'],
      message: expect.stringContaining('Check the options of the route: "audience".') as string,
    });
  });

  it('an application of its own that is not complete is to be completed there', async () => {
    const nothing = { tenantId: '', scope: '', clientSecret: '', clientId: '' };
    expect(await exchanging({ clientId: 'exchanger', clientSecret: WRONG_SECRET }, {}, nothing)).toMatchObject({
      block: 'onBehalfOf',
      fields: ['tenantId', 'scope'],
    });
  });
});
