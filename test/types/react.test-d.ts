import {
  A2AChat,
  A2AChatFloating,
  type A2AChatFloatingHandle,
  type A2AChatHandle,
  type A2AChatProps,
  ServiceSurface,
  type useA2AChat,
} from 'agent-bff-react';
import { createElement, createRef } from 'react';
import { describe, expectTypeOf, it } from 'vitest';

describe('the props of the specification (§4.1)', () => {
  it('compile each alone, all together, and as undefined', () => {
    createElement(A2AChat);
    createElement(A2AChat, { a2aEndpoint: '/api/a2a' });
    createElement(A2AChat, { configEndpoint: '/api/a2a/config' });
    createElement(A2AChat, { serviceBaseUrl: '/api/service' });
    createElement(A2AChat, { panelTitle: 'Ask us' });
    createElement(A2AChat, { suggestedPrompts: ['Where is my parcel?'] });
    createElement(A2AChat, { user: { name: 'Ada', picture: '/ada.svg' } });
    createElement(A2AChatFloating, { fabClassName: 'shop-chat-button' });
    createElement(A2AChatFloating, {
      a2aEndpoint: undefined,
      configEndpoint: undefined,
      serviceBaseUrl: undefined,
      panelTitle: undefined,
      fabClassName: undefined,
      suggestedPrompts: undefined,
      user: undefined,
    });
    createElement(ServiceSurface, { surfaceId: 'poll' });
    createElement(ServiceSurface, { name: 'my-notes', surfaceId: undefined });
  });

  it('do not compile with a wrong type', () => {
    // @ts-expect-error -- an endpoint is a string
    createElement(A2AChat, { a2aEndpoint: new URL('https://site.example/api/a2a') });
    // @ts-expect-error -- one prompt is a list of one
    createElement(A2AChat, { suggestedPrompts: 'Hello' });
    // @ts-expect-error -- a name is a string
    createElement(A2AChat, { user: { name: 1 } });
    // @ts-expect-error -- only the floating chat has a button
    createElement(A2AChat, { fabClassName: 'shop-chat-button' });
    // @ts-expect-error -- misspelt
    createElement(A2AChat, { a2aEndPoint: '/api/a2a' });
    // @ts-expect-error -- no such label
    createElement(A2AChat, { labels: { sendd: 'Senden' } });
    // @ts-expect-error -- no such scheme
    createElement(A2AChat, { colorScheme: 'blue' });
    // @ts-expect-error -- neither id nor name
    createElement(ServiceSurface, {});
    // @ts-expect-error -- both
    createElement(ServiceSurface, { surfaceId: 'poll', name: 'poll' });
  });

  it('accept the types of session libraries and fetch', () => {
    const auth0User: { name?: string; picture?: string; sub: string } = { sub: 'auth0|1' };
    const authJsUser: { name?: string | null; email?: string | null } | undefined = { name: null };
    expectTypeOf(auth0User).toExtend<A2AChatProps['user']>();
    createElement(A2AChat, { user: authJsUser });
    createElement(A2AChat, { headers: { Authorization: 'Bearer x' } });
    createElement(A2AChat, { headers: new Headers() });
    createElement(A2AChat, { headers: async () => ({ 'X-CSRF': '1' }) });
  });

  it('a ref exposes the methods for a page', () => {
    const chat = createRef<A2AChatHandle>();
    createElement(A2AChat, { ref: chat });
    createElement(A2AChatFloating, { ref: createRef<A2AChatFloatingHandle>() });
    expectTypeOf(chat.current).toExtend<Pick<ReturnType<typeof useA2AChat>, 'send' | 'stop' | 'reset'> | null>();
  });
});
