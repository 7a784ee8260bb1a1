export { A2AChat, type A2AChatProps, type ChatUser } from './a2a-chat';
export { A2AChatFloating, type A2AChatFloatingProps } from './a2a-chat-floating';
export { ServiceSurface, type ServiceSurfaceHandle, type ServiceSurfaceProps } from './service-surface';
