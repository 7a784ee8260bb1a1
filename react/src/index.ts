'use client';

export { A2AChat } from './a2a-chat.js';
export { A2AChatFloating, type A2AChatFloatingHandle, type A2AChatFloatingProps } from './a2a-chat-floating.js';
export type {
  AgentMessage,
  AgentMessageState,
  ChatDraft,
  ChatMessage,
  ChatPhase,
  ChatState,
  UserMessage,
} from './chat/chat-state.js';
export { ChatError, type ChatErrorCode } from './chat-error.js';
export type { A2AChatHandle, A2AChatProps, ChatOptions, ChatUser } from './chat-props.js';
export type { ChatLabels } from './labels.js';
export { ServiceSurface, type ServiceSurfaceHandle, type ServiceSurfaceProps } from './service-surface.js';
export type { SiteHeaders } from './site-fetch.js';
export { type A2AChatController, useA2AChat } from './use-a2a-chat.js';
export { type ServiceSurfaceController, type ServiceSurfaceOptions, useServiceSurface } from './use-service-surface.js';
