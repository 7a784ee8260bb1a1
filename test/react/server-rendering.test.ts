import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { A2AChat, A2AChatFloating, ServiceSurface } from 'agent-bff-react';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it, vi } from 'vitest';

const DIST = fileURLToPath(new URL('../../react/dist/', import.meta.url));

describe('on a server without a window', () => {
  it.each<[string, ReactElement, RegExp]>([
    ['the chat', createElement(A2AChat, { panelTitle: 'Ask us', suggestedPrompts: ['Hello?'] }), /Ask us.*Hello\?/],
    ['the chat with every prop', createElement(A2AChat, everyProp()), /dir="rtl".*Hallo, Ada/],
    ['the floating chat', createElement(A2AChatFloating, { panelTitle: 'Ask us' }), /aria-label="Ask us"/],
    ['a widget', createElement(ServiceSurface, { surfaceId: 'poll' }), /aria-busy="true"/],
  ])('%s renders without a style that a policy would block', (_which, element, words) => {
    const complaints = vi.spyOn(console, 'error');
    expect(typeof window).toBe('undefined');
    const html = renderToString(element);
    expect(html).toMatch(words);
    expect(html).not.toMatch(/<style| style=|<script/);
    expect(complaints).not.toHaveBeenCalled();
  });
});

describe('the published code', () => {
  it('begins with "use client", for frameworks that divide a page between server and browser', () => {
    expect(readFileSync(`${DIST}index.js`, 'utf8')).toMatch(/^'use client';\n/);
  });

  it('does not use window or document when it is loaded, and creates markup only through the sanitiser', () => {
    const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
    const texts = files.map((file) => readFileSync(DIST + file, 'utf8'));
    expect(files.length).toBeGreaterThan(20);
    expect(texts.filter((text) => /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|\beval\(/.test(text))).toEqual(
      [],
    );
  });
});

function everyProp() {
  return {
    a2aEndpoint: '/api/a2a',
    configEndpoint: '/api/a2a/config',
    serviceBaseUrl: '/api/service',
    panelTitle: 'Ask us',
    suggestedPrompts: ['Hello?'],
    user: { name: 'Ada Lovelace', picture: '/ada.svg' },
    files: false,
    colorScheme: 'dark',
    labels: { welcomeUser: 'Hallo, {name}' },
    dir: 'rtl',
    className: 'shop',
    headers: () => ({ 'X-CSRF': '1' }),
    renderMessage: () => null,
    onError: () => undefined,
    keepOnReload: true,
  } as const;
}
