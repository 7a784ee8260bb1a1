/** The page that browser tests of `agent-bff-react` open. It runs in the browser; `ComponentBrowser` bundles it. */
import * as components from 'agent-bff-react';
import { type ComponentType, createElement, createRef, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

/** An unstyled chat, as a site would write one. */
function Headless(options: components.ChatOptions) {
  const chat = components.useA2AChat(options);
  const lines = chat.messages.map(({ id, role, text }) => createElement('li', { key: id }, `${role}: ${text}`));
  return createElement(
    'main',
    null,
    createElement('h1', null, chat.agentName),
    createElement('ul', null, lines),
    createElement('button', { onClick: () => void chat.send('Hello') }, 'Say hello'),
    createElement('output', null, chat.error?.code ?? chat.phase),
  );
}

/** An unstyled widget. */
function HeadlessSurface(options: components.ServiceSurfaceOptions) {
  const surface = components.useServiceSurface(options);
  return createElement(
    'main',
    { 'aria-busy': surface.isBusy },
    createElement('h1', null, surface.title),
    createElement('div', { ref: surface.host }),
    createElement('button', { onClick: () => void surface.act('add', { text: 'From outside' }) }, 'Add a note'),
    createElement('output', null, surface.message),
  );
}

const root = createRoot(document.querySelector('#root') as HTMLElement);
const handle = createRef<object>();
const shown = { ...components, Headless, HeadlessSurface } as unknown as Readonly<
  Record<string, ComponentType<object>>
>;

Object.assign(globalThis, {
  handle,
  /** Renders one component. */
  show(name: string, props: object) {
    const component = shown[name];
    if (component === undefined) throw new Error(`There is no component ${name}.`);
    const withRef = name.startsWith('Headless') ? props : { ...props, ref: handle };
    root.render(createElement(StrictMode, null, createElement(component, withRef)));
  },
  hide: () => root.render(null),
});
document.documentElement.dataset['ready'] = '';
