// An agent of @a2a-js/sdk, as its README writes one, in the folder of a site. With TOKEN it wants that as a bearer token.
import { Role } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const { PORT, TOKEN } = process.env;
const url = `http://localhost:${PORT}`;
const executor = {
  execute: async ({ contextId, userMessage }, bus) => {
    const words = userMessage.parts.map(({ content }) => content.value).join(' ');
    const part = { content: { $case: 'text', value: `You said: ${words}` }, metadata: {}, filename: '', mediaType: '' };
    const message = { messageId: crypto.randomUUID(), contextId, taskId: '', role: Role.ROLE_AGENT, parts: [part] };
    bus.publish(AgentEvent.message({ ...message, metadata: {}, extensions: [], referenceTaskIds: [] }));
    bus.finished();
  },
  cancelTask: async () => undefined,
};
const card = {
  name: 'An agent of our own',
  description: 'Repeats what it hears.',
  version: '1.0.0',
  supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);

const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/a2a', (request, response, next) => {
  if (TOKEN === undefined || request.headers.authorization === `Bearer ${TOKEN}`) return next();
  response.set('www-authenticate', 'Bearer').status(401).json({ error: 'A bearer token is needed.' });
});
app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(PORT, () => console.log(url));
