import { A2AAgent as AgUiAgent } from '@ag-ui/a2a';
import { A2AClient as AssistantUiClient } from '@assistant-ui/react-a2a';
import { InMemoryRunner } from '@google/adk';
import { RemoteA2AAgent } from '@google/adk/a2a';
import { A2AAgent as StrandsAgent } from '@strands-agents/sdk/a2a';
import { a2a } from 'a2a-ai-provider';

/** Starts a client from an address only, sends a message and returns the answer's text as the client reports it. */
export type Ask = (address: string, question: string) => Promise<string>;

/** The client of @a2a-js/sdk 0.2 that AG-UI's agent requires. */
type AgUiClient = ConstructorParameters<typeof AgUiAgent>[0]['a2aClient'];

/** A model of the AI SDK. */
export const aiSdk: Ask = async (address, question) => {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: question }] }];
  const { stream } = await a2a(address).doStream({ prompt });
  let answer = '';
  for await (const part of stream) {
    if (part.type === 'error') throw new Error(String(part.error));
    if (part.type === 'text-delta') answer += part.delta;
  }
  return answer;
};

/** A remote agent in the ADK's own runner. */
export const agentDevelopmentKit: Ask = async (address, question) => {
  const agent = new RemoteA2AAgent({ name: 'remote', agentCard: address });
  const newMessage = { role: 'user', parts: [{ text: question }] };
  let answer = '';
  for await (const event of new InMemoryRunner({ agent }).runEphemeral({ userId: 'ada', newMessage })) {
    if (event.errorMessage !== undefined) throw new Error(event.errorMessage);
    for (const { text } of event.content?.parts ?? []) answer += text ?? '';
  }
  return answer;
};

/** A remote agent called like a local one. */
export const strands: Ask = async (address, question) =>
  String(await new StrandsAgent({ url: address }).invoke(question));

/** An AG-UI agent over a client of @a2a-js/sdk 0.2. It passes artifacts on as raw events. */
export function agUi(clientAt: (address: string) => unknown): Ask {
  return async (address, question) => {
    const agent = new AgUiAgent({
      a2aClient: clientAt(address) as AgUiClient,
      initialMessages: [{ id: '1', role: 'user', content: question }],
    });
    let answer = '';
    await agent.runAgent(undefined, {
      onRawEvent: ({ event }) => {
        const { artifact } = event.event as { artifact?: { parts: readonly { text?: string }[] } };
        for (const { text } of artifact?.parts ?? []) answer += text ?? '';
      },
    });
    return answer;
  };
}

/** The client below the hooks. It works without a browser and speaks HTTP+JSON only. */
export const assistantUi: Ask = async (address, question) => {
  const client = new AssistantUiClient({ baseUrl: address });
  await client.getAgentCard();
  let answer = '';
  for await (const event of client.streamMessage({ messageId: '1', role: 'user', parts: [{ text: question }] })) {
    if (event.type !== 'artifactUpdate') continue;
    for (const { text } of event.event.artifact.parts) answer += text ?? '';
  }
  return answer;
};
