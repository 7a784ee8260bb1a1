import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import typography from '@tailwindcss/typography';
import { compile } from 'tailwindcss';

const require = createRequire(import.meta.url);

/** Tailwind's `.prose`, as its plugin writes it. */
async function prose(): Promise<string> {
  const compiler = await compile('@plugin "@tailwindcss/typography"; @tailwind utilities;', {
    loadModule: async (path, base) => ({ path, base, module: typography }),
  });
  return compiler.build(['prose', 'prose-xl']);
}

/** Stylesheets that sites have around a chat, and the class names of the element that it is in. */
export const PAGE_STYLES: Readonly<
  Record<string, { readonly css: () => Promise<string>; readonly className: string }>
> = {
  'Tailwind’s .prose': { css: prose, className: 'prose prose-xl' },
  'Tailwind’s reset': {
    css: async () => readFileSync(require.resolve('tailwindcss/preflight.css'), 'utf8'),
    className: '',
  },
  'Bootstrap 5': {
    css: async () => readFileSync(require.resolve('bootstrap/dist/css/bootstrap.css'), 'utf8'),
    className: 'container-fluid p-0 text-center',
  },
  'rules for everything': {
    css: async () => `* { color: #333; margin: 0; padding: 0; line-height: 1; font: 300 14px serif; letter-spacing: 0.1em;
          border: 0; outline: 0; background: none; text-align: justify; box-sizing: content-box; max-width: 60ch; transition: all 1s; }
        *::before, *::after { box-sizing: border-box; } :is(div, p, span)::marker { color: red; }`,
    className: '',
  },
  'rules for elements': {
    css: async () => `
        a { color: green; text-decoration: none; font-weight: bold; border-bottom: 1px solid; }
        p, li { color: #222; margin: 2em 0; max-width: 20ch; text-indent: 2em; line-height: 2; }
        h1, h2, h3, h4, h5, h6 { color: navy; font: italic 900 40px fantasy; margin: 3em 0 1em; text-transform: uppercase; }
        ul, ol { list-style: square inside; margin: 2em; padding: 0; } li::before { content: '→ '; } li::marker { color: red; }
        img { display: block; width: 100%; height: auto; margin: 2em auto; border: 5px solid; border-radius: 0; }
        svg { display: block; width: 100%; margin: 1em; fill: red; stroke: red; }
        table { width: 100%; margin: 2em 0; font-size: 10px; background: white; } tr { background: #eee; } tr:nth-child(2n) { background: #111; }
        th, td { padding: 2em; border: 0; color: #000; text-align: center; white-space: nowrap; } thead { background: black; color: white; }
        pre { background: #1f2937; color: #e5e7eb; padding: 3em; margin: 2em; white-space: pre-wrap; line-height: 2; border-left: 10px solid; }
        code { background: #fee; color: #c7254e; padding: 5px; font-weight: 600; white-space: nowrap; } code::before, code::after { content: '\`'; }
        blockquote { margin: 2em; padding: 2em; background: #f9f9f9; font: italic 2em serif; quotes: '«' '»'; } blockquote::before { content: open-quote; }
        hr { border: 0; height: 20px; margin: 3em; background: red; } strong, em, b, i { color: red; background: yellow; } del { opacity: 0.3; }
        button, textarea { display: block; width: 100%; min-height: 4em; margin: 1em 0; padding: 1em; background: blue; color: white; border: 3px solid; text-transform: uppercase; box-shadow: 0 0 9px; }
        section, header, footer, div { margin: 1em 0; } header, footer { background: #333; color: white; padding: 2em; position: sticky; }
        details, summary { background: #333; color: white; border: 1px solid; padding: 1em; } form { display: grid; gap: 3em; } dialog { padding: 2em; border: 3px solid; }
        time, span, label { color: brown; font-size: 20px; }`,
    className: '',
  },
  'texts of a site around': {
    css: async () => `#root { color: #555; font: 300 12px/1 serif; letter-spacing: 0.2em; word-spacing: 1em; text-transform: uppercase; text-align: justify;
          text-indent: 3em; white-space: nowrap; text-shadow: 1px 1px red; hyphens: auto; cursor: help; quotes: none; font-variant: small-caps;
          list-style: none; border-spacing: 9px; border-collapse: separate; word-break: break-all; overflow-wrap: anywhere; tab-size: 2; caption-side: bottom; empty-cells: hide; }`,
    className: '',
  },
  'rules for kinds of elements': {
    css: async () => `
        body [type='button'], body [type='submit'] { background: none; color: red; padding: 12px 24px; border: 1px solid; border-radius: 3px; width: auto; height: auto; position: static; }
        body [type='button']:hover { background: pink; } body [href] { color: green; } body [dir] { text-align: end; } body [tabindex] { outline: 2px solid; }`,
    className: '',
  },
};
