import { createToolkit, type ServerConfig } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import express, { type RequestHandler } from 'express';

/**
 * The agent for programs, such as the server of another site. They have no cookie and name their conversations
 * themselves, so these are open. The configuration needs a service account of its own: under that of the visitors, a
 * program that learns the id of a visitor's conversation could read it.
 */
export function createAgentForPrograms(config: ServerConfig): RequestHandler {
  return createA2ARouter(express, { toolkit: createToolkit(config), conversations: 'open' });
}
