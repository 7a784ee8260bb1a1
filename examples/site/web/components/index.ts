export { A2AChat } from './a2a-chat';
export type { A2AChatProps, ChatUser } from './chat/chat-props';
export { A2AChatFloating, type A2AChatFloatingProps } from './a2a-chat-floating';
export { ServiceSurface, type ServiceSurfaceHandle, type ServiceSurfaceProps } from './service-surface';
