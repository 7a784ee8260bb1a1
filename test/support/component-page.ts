/** The page that browser tests of `agent-bff-react` open. It runs in the browser; `ComponentBrowser` bundles it. */
import * as components from 'agent-bff-react';
import { Activity, type ComponentType, createElement, createRef, type ReactNode, StrictMode, useState } from 'react';
import { createPortal } from 'react-dom';
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

/** A form of the site, from which it opens the chat in a dialog: React passes events of the dialog on to the form. */
function ChatOverForm(props: components.A2AChatProps) {
  const [events, add] = useState('');
  const record = ({ type }: { readonly type: string }): void => add((before) => `${before} ${type}`);
  return createElement(
    'form',
    { onSubmit: record, onChange: record, onReset: record },
    createElement('output', null, events),
    createPortal(createElement(components.A2AChat, props), document.body),
  );
}

/** A widget in a frame, put there by the page around it. */
function FramedSurface(props: components.ServiceSurfaceProps) {
  const [frame, setFrame] = useState<HTMLIFrameElement | null>(null);
  const body = frame?.contentDocument?.body;
  return createElement(
    'iframe',
    { ref: setFrame, title: 'Frame' },
    body && (createPortal(createElement(components.ServiceSurface, props), body) as ReactNode),
  );
}

/** A chat that the page hides for a while. */
function KeptChat({ isHidden }: { readonly isHidden: boolean }) {
  const children = createElement(components.A2AChatFloating, {});
  return createElement(Activity, { mode: isHidden ? 'hidden' : 'visible', children });
}

const root = createRoot(document.querySelector('#root') as HTMLElement);
const handle = createRef<object>();
const own = { Headless, HeadlessSurface, ChatOverForm, FramedSurface, KeptChat };
const shown = { ...components, ...own } as unknown as Readonly<Record<string, ComponentType<object>>>;

Object.assign(globalThis, {
  handle,
  /** Renders one component. */
  show(name: string, props: object) {
    const component = shown[name];
    if (component === undefined) throw new Error(`There is no component ${name}.`);
    const withRef = name in own ? props : { ...props, ref: handle };
    root.render(createElement(StrictMode, null, createElement(component, withRef)));
  },
  hide: () => root.render(null),
  /** The writer of answers alone. */
  views: () => import('../../react/dist/chat/markdown-view.js'),
});
document.documentElement.dataset['ready'] = '';
