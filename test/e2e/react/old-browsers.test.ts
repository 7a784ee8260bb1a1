import { existsSync, readdirSync, readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { type ComponentBrowser, type ComponentVisit, describeInBrowsers } from '../../support/component-browser.js';

const DIST = new URL('../../../react/dist/', import.meta.url);
const PAGE_FAILED = 'Something failed. Please reload the page.';

/** Missing in browsers that visitors still use; tested even if the code does not use them. */
const KNOWN = [
  'CSSStyleSheet adoptedStyleSheets replaceSync at replaceAll replaceChildren TextDecoderStream pipeThrough with',
  'structuredClone randomUUID crypto subtle any timeout throwIfAborted hasOwn withResolvers localStorage sessionStorage',
  'ResizeObserver IntersectionObserver requestSubmit findLastIndex visualViewport clipboard getReader',
].flatMap((names) => names.split(' '));

/**
 * In every browser that parses the built files (ES2022 syntax), or needed by React. Everything else that the built files
 * name is tried.
 */
const ASSUMED = new Set(
  [
    'Object Array String Number Boolean Symbol Map Set WeakMap WeakSet Promise Error TypeError RangeError RegExp JSON Math',
    'Date Uint8Array URL URLSearchParams Headers Response AbortController TextDecoder Element HTMLElement Node Blob File',
    'document window globalThis navigator console fetch setTimeout clearTimeout undefined NaN Infinity parseInt isNaN',
    'encodeURIComponent decodeURIComponent atob btoa performance EventTarget Event',
    'addEventListener removeEventListener dispatchEvent constructor prototype length name message toString valueOf',
    'assign keys values entries create defineProperty freeze fromEntries is isArray from of getPrototypeOf setPrototypeOf',
    'concat every filter find findIndex flat flatMap forEach includes indexOf join lastIndexOf map pop push reduce reverse',
    'shift slice some sort splice unshift charAt charCodeAt codePointAt fromCodePoint fromCharCode endsWith match matchAll',
    'normalize padStart padEnd repeat replace search split startsWith substring substr toLowerCase toUpperCase trim trimEnd',
    'trimStart exec test lastIndex source flags index input call apply bind add clear delete get has set size then catch',
    'finally all race resolve reject allSettled parse stringify abs ceil floor max min random round pow now getTime',
    'iterator asyncIterator next return isInteger isFinite isNaN isSafeInteger toFixed stack cause description subarray',
    'append appendChild insertBefore remove removeChild replaceChild replaceWith cloneNode contains closest matches before',
    'querySelector querySelectorAll getAttribute setAttribute removeAttribute hasAttribute createElement createTextNode',
    'createDocumentFragment childNodes children firstChild lastChild nextSibling previousSibling parentNode parentElement',
    'firstElementChild lastElementChild nextElementSibling nodeType nodeName tagName textContent data nodeValue ownerDocument',
    'body head documentElement baseURI className classList id title style dir lang hidden value checked disabled selected',
    'type files form target currentTarget key shiftKey isComposing preventDefault stopPropagation focus click blur href',
    'host port protocol origin pathname hash searchParams src alt rel text content scrollTop scrollHeight clientHeight',
    'innerHeight innerWidth setProperty getPropertyValue visibilityState activeElement isSameNode isConnected attributes',
    'abort aborted signal reason json blob arrayBuffer ok status headers url decode cancel read send open close stop reset',
    'state error code label caption description kind language parts links items item options option fields action actions',
    'download fallback first last labels list getItem setItem removeItem getState',
    'names error errors warn log onerror shadowRoot attachShadow mode start end count level depth left right top bottom',
  ].flatMap((names) => names.split(' ')),
);

/** The names the built files use as a property or a global. */
function namesOf(folder: URL): ReadonlySet<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const texts = files.map((file) =>
    readFileSync(new URL(file, folder), 'utf8').replace(/\/\*.*?\*\/|^\s*\/\/.*$/gms, ''),
  );
  return new Set(texts.flatMap((text) => text.match(/(?<=\.)[a-z]\w*|\b[A-Z]\w+(?=[.(])|(?<=')\w+(?=' in )/g) ?? []));
}

/** Removes a built-in name from the browser. Runs in the page. */
function removeApi(name: string): void {
  const remove = (from: object): void => {
    if (!Object.prototype.hasOwnProperty.call(from, name)) return;
    if (!Reflect.deleteProperty(from, name)) Object.defineProperty(from, name, { value: undefined });
  };
  const constructors = Object.getOwnPropertyNames(globalThis)
    .filter((global) => /^[A-Z]/.test(global))
    .map((global) => (globalThis as unknown as Record<string, unknown>)[global])
    .filter((global) => typeof global === 'function' || (typeof global === 'object' && global !== null)) as object[];
  const typed = Object.getPrototypeOf(Uint8Array) as object;
  for (const one of [...constructors, typed]) {
    remove(one);
    const { prototype } = one as { prototype?: object };
    if (typeof prototype === 'object') remove(prototype);
  }
  remove(globalThis);
}

/** True for a built-in name of the browser. Runs in the page. */
function builtIn(names: readonly string[]): readonly string[] {
  const constructors = Object.getOwnPropertyNames(globalThis)
    .filter((global) => /^[A-Z]/.test(global))
    .map((global) => (globalThis as unknown as Record<string, unknown>)[global])
    .filter((global) => typeof global === 'function') as { prototype?: object }[];
  const owners: object[] = [
    globalThis,
    ...constructors,
    ...constructors.flatMap(({ prototype }) => (typeof prototype === 'object' ? [prototype] : [])),
  ];
  return names.filter((name) => owners.some((owner) => Object.prototype.hasOwnProperty.call(owner, name)));
}

/** Sends a message; resolves to the answer, or to the error the visitor reads. */
async function outcome(visit: ComponentVisit): Promise<string> {
  await visit.send('Hello');
  const answered = visit.page.locator('.a2a-message-agent', { hasText: 'Hello' });
  await answered.or(visit.alert).first().waitFor();
  return (await visit.alert.count()) > 0 ? visit.alert.first().innerText() : 'answered';
}

async function without(browser: ComponentBrowser, ...names: readonly string[]): Promise<string> {
  const visit = await browser.visit({
    prepare: async (page) => {
      for (const name of names) await page.addInitScript(removeApi, name);
    },
  });
  await visit.show('A2AChat', { keepOnReload: true });
  const said = await outcome(visit);
  await visit.page.context().close();
  return said;
}

describeInBrowsers('a chat in a browser without', { inEveryEngine: false, wordMs: 0, slowStepMs: 5 }, (browser) => {
  it('any single API in the built files shows the answer', { timeout: 240_000 }, async () => {
    expect(existsSync(DIST)).toBe(true);
    const shared = await browser.visit();
    const used = await shared.page.evaluate(builtIn, [...namesOf(DIST)]);
    expect(used.length).toBeGreaterThan(100);
    const tried = [...new Set([...KNOWN, ...used.filter((name) => !ASSUMED.has(name))])];
    const outcomes: Record<string, string> = {};
    const waiting = [...tried];
    const tryAll = async (): Promise<void> => {
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop())
        outcomes[name] = await without(browser, name).catch((error: unknown) => `nothing: ${String(error)}`);
    };
    await Promise.all([tryAll(), tryAll(), tryAll(), tryAll()]);
    expect(outcomes).toEqual(Object.fromEntries(tried.map((name) => [name, 'answered'])));
  });

  it('all of these APIs at once shows the answer', async () => {
    expect(await without(browser, ...KNOWN.filter((name) => name !== 'any'))).toBe('answered');
  });

  it('readable storage shows the answer', async () => {
    const visit = await browser.visit({
      prepare: (page) =>
        page.addInitScript(() => {
          for (const name of ['localStorage', 'sessionStorage'])
            Object.defineProperty(globalThis, name, {
              get: () => {
                throw new DOMException('forbidden', 'SecurityError');
              },
            });
        }),
    });
    await visit.show('A2AChat', { keepOnReload: true });
    expect(await outcome(visit)).toBe('answered');
  });

  it.each(['AbortController', 'TextDecoder', 'Headers', 'fetch', 'URL'])(
    '%s, which the chat needs, asks to reload the page instead of reporting a lost connection',
    async (name) => {
      expect(await without(browser, name)).toBe(PAGE_FAILED);
    },
  );
});
