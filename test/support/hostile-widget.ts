/** A widget of a hostile platform: markup and theme. */
export interface HostileWidget {
  readonly html: string;
  readonly theme: string;
}

const COVER = 'position: fixed; inset: 0; z-index: 2147483647; background: rgb(255, 0, 0);';
const important = (css: string): string => css.replaceAll(';', ' !important;');

/** Widgets that try to leave their box, by method. */
export const ESCAPES: Readonly<Record<string, HostileWidget>> = {
  'a fixed host': { html: '<p>Hello</p>', theme: `:host { ${important(COVER)} }` },
  'a host without containment': {
    html: '<p class="x">Hello</p>',
    theme: `:host { display: contents !important; contain: none !important; overflow: visible !important; } .x { ${COVER} }`,
  },
  'a host with huge margins': {
    html: '<p>Hello</p>',
    theme:
      ':host { margin: -2000px !important; padding: 2000px !important; background: red; width: 4000px !important; }',
  },
  'a scaled and moved host': {
    html: '<p>Hello</p>',
    theme: ':host { position: relative !important; transform: translate(-40px, -90px) scale(50); background: red; }',
  },
  'an absolute element': {
    html: '<p class="x">Hello</p>',
    theme: '.x { position: absolute; top: -900px; left: -900px; width: 4000px; height: 4000px; background: red; }',
  },
  'a negative margin': {
    html: '<p class="x">Hello</p>',
    theme: '.x { position: relative; margin: -300px; padding: 400px; background: red; }',
  },
  'shadows and outlines': {
    html: '<p class="x">Hello</p>',
    theme: '.x { outline: 900px solid red; box-shadow: 0 0 0 900px red; filter: drop-shadow(60px 60px red); }',
  },
  'an SVG with overflow': {
    html: '<svg width="1" height="1" overflow="visible"><a href="https://example.com/"><rect x="-2000" y="-2000" width="4000" height="4000" fill="red"/></a></svg>',
    theme: ':host { color: inherit; }',
  },
  'an open dialog': {
    html: '<dialog open class="x">Hello</dialog>',
    theme: `.x { ${COVER} width: 100vw; height: 100vh; }`,
  },
  'an anchored element': {
    html: '<p id="a">Hello</p><p class="x">Hello</p>',
    theme: `#a { anchor-name: --a; } .x { ${COVER} position-anchor: --a; top: anchor(--a top); position-try: flip-block; }`,
  },
  'an animation': {
    html: '<p class="x">Hello</p>',
    theme: `@keyframes out { from, to { ${COVER} transform: scale(9); } } .x, :host { animation: out 9s infinite; }`,
  },
};

/** Widgets that open something in the top layer of the page when their button is clicked. */
export const TOP_LAYER: Readonly<Record<string, HostileWidget>> = {
  'a popover': {
    html: '<button popovertarget="x">Vote</button><p id="x" popover>Hello</p>',
    theme: `#x { ${COVER} width: 100vw; height: 100vh; }`,
  },
  'a modal dialog': {
    html: '<button command="show-modal" commandfor="x">Vote</button><dialog id="x">Hello</dialog>',
    theme: `#x { ${COVER} width: 100vw; height: 100vh; max-width: none; max-height: none; }`,
  },
  'a list of options': {
    html: '<select aria-label="Vote"><option>One</option><option>Two</option></select>',
    theme: `@layer first { ::picker(select) { appearance: base-select !important; } }
      select, ::picker(select) { appearance: base-select !important; }
      ::picker(select) { ${COVER} width: 100vw; height: 100vh; }`,
  },
};

const PLAIN_ATTRIBUTES =
  'src srcset poster background href xlink:href data lowsrc dynsrc longdesc cite icon ping action formaction manifest ' +
  'codebase code archive classid profile usemap imagesrcset attributionsrc src-set data-src';
const STYLE_ATTRIBUTES =
  'fill stroke filter mask clip-path marker-start marker-mid marker-end marker cursor style background mask-image src';
const TAGS =
  'a area audio body button canvas center div embed form frame iframe image img input link object p picture script source ' +
  'table tbody td th tr track video svg circle rect image use feImage filter mask pattern linearGradient radialGradient ' +
  'text textPath mpath animate set animateMotion animateTransform g path script style math mi mrow mtext';

/** Markup with an address below `origin` in every attribute and every notation. */
export function fetchingMarkup(origin: string): string {
  const svgTags = new Set(TAGS.slice(TAGS.indexOf('svg')).split(' '));
  const escaped = origin.replace('http:', 'ht&Tab;tp:');
  return TAGS.split(' ')
    .flatMap((tag, index) => {
      const base = `${origin}/${index}-${tag}`;
      const plain = PLAIN_ATTRIBUTES.split(' ').map((name) => `${name}="${base}/${name}"`);
      const tabbed = PLAIN_ATTRIBUTES.split(' ').map((name) => `${name}=" ${escaped}/${index}-${tag}/tab-${name}"`);
      const relative = PLAIN_ATTRIBUTES.split(' ').map((name) => `${name}="${base.replace('http:', '')}/rel-${name}"`);
      const styled = STYLE_ATTRIBUTES.split(' ').map((name) => `${name}="url(${base}/style-${name}#x)"`);
      const quoted = STYLE_ATTRIBUTES.split(' ').map((name) => `${name}="u\\72l('${base}/escaped-${name}#x')"`);
      return [plain, tabbed, relative, styled, quoted].map((attributes) => {
        const element = `<${tag} width="9" height="9" type="image" rel="stylesheet" ${attributes.join(' ')}>x</${tag}>`;
        return svgTags.has(tag) ? `<svg width="9" height="9">${element}</svg>` : element;
      });
    })
    .concat([
      `<img srcset="${origin}/set-1 1x, ${origin}/set-2 2x"><picture><source srcset="/page/icon, ${origin}/set-3 3x"><img></picture>`,
      `<img src="/page/icon" srcset="/page/icon 1x,${origin}/set-4 1.5x">`,
      `<video poster="${origin}/poster"></video><audio src="${origin}/audio" autoplay></audio>`,
      `<svg><filter id="f"><feImage href="${origin}/fe"/></filter><rect width="9" height="9" filter="url(#f)"/>`,
      `<image href="${origin}/image-1"/><image xlink:href="${origin}/image-2"/>`,
      `<image><animate attributeName="href" to="${origin}/smil-1"/><set attributeName="href" to="${origin}/smil-2"/></image></svg>`,
      `<style>@import "${origin}/import"; * { background: url(${origin}/element) }</style>`,
      `<link rel="preload" as="image" href="${origin}/preload"><meta http-equiv="refresh" content="0; url=${origin}/refresh">`,
      `<base href="${origin}/"><img src="base">`,
    ])
    .join('');
}

/** A theme that loads from `origin` in every rule and every notation. */
export function fetchingTheme(origin: string): string {
  const bare = origin.replace('http:', '');
  return `@import "${origin}/import"; @import url(${origin}/import-url);
    @font-face { font-family: foreign; src: url(${origin}/font); }
    @property --registered { syntax: "<image>"; inherits: true; initial-value: url(${origin}/property); }
    @counter-style foreign { system: cyclic; symbols: url(${origin}/counter) "x"; }
    :host { --plain: url(${origin}/custom); --text: "${origin}/text"; --escaped: u\\72l("${origin}/custom-escaped");
      --set: image-set("${origin}/custom-set" 1x); --hidden: "a" url(${origin}/after) "b"; --comment: /* " */ url(${origin}/comment) /* " */;
      --mixed: 'url("' url(${origin}/mixed) '")'; background: url(${bare}/host) !important; font-family: foreign; }
    p { background: url(${origin}/p-1); }
    p { background: u\\72l("${origin}/p-2") }
    p::before { content: url(${origin}/before); }
    p::after { content: image-set("${origin}/after-set" 1x, url(${origin}/after-url) 2x); }
    p { border-image: url(${origin}/border) 9; mask: url(${origin}/mask); -webkit-mask-image: url(${origin}/mask-image); }
    p { cursor: url(${origin}/cursor), auto; filter: url(${origin}/filter#f); clip-path: url(${origin}/clip#c); }
    p { list-style: url(${origin}/list) inside; shape-outside: url(${origin}/shape); float: left; }
    p { & b { background: url(${origin}/nested); } background: cross-fade(url(${origin}/fade), red); }
    @media all { @supports (color: red) { @layer deep { p { background: url(${origin}/deep); } } } }
    @keyframes foreign { from, to { background: url(${origin}/keyframe); } } b { animation: foreign 9s infinite; }
    ul { background: var(--plain); } ol { background: var(--escaped); } dl { background: var(--set); }
    em { background: image-set(var(--text) 1x); } i { background: var(--hidden), red; } u { background: var(--mixed); }
    s { background: var(--comment); } q { background: var(--registered); }
    h1 { background: var(--none, url(${origin}/fallback)); } h2 { background: url("${origin}/continued\\
line"); } h3 { background: url(\\68 ttp${origin.slice(4)}/escaped-scheme); } h4 { background: src("${origin}/src"); }`;
}

/** An element for every rule of `fetchingTheme`. */
export const THEMED_MARKUP =
  '<p>p <b>b</b></p><ul><li>x</ul><ol><li>x</ol><dl><dt>x</dl><em>x</em><i>x</i><u>x</u><s>x</s><q>x</q><h1>x</h1><h2>x</h2><h3>x</h3><h4>x</h4>';
