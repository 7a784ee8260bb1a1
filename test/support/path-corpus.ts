/** The expected result of one raw path below a mount point. Every adapter must have the same result. */
export interface PathCase {
  readonly what: string;
  /** The part below the mount point, as in the request line. */
  readonly path: string;
  /** The target of a POST below the surfaces; null for a 404 without a call to the platform. */
  readonly surface: string | null;
  /** The target of a request below the conversation records; null for a 404 without a call to the platform. */
  readonly record: string | null;
}

const REFUSED = { surface: null, record: null };
const onlyRecord = (path: string) => ({ path, surface: null, record: path });
/** Forwarded unchanged, also below the surfaces. */
const both = (path: string, surface: string | null = `/surfaces${path}`) => ({ path, surface, record: path });

const LONG = 'x'.repeat(256);

/** Raw paths as browsers, scripts and attackers send them. */
export const PATH_CORPUS: readonly PathCase[] = [
  // Shapes of the allowlist.
  { what: 'a render by id', ...both('/counter/render') },
  { what: 'a render by name', ...both('/by-name/counter/render') },
  { what: 'an action by id', ...both('/counter/actions/add') },
  { what: 'an action by name', ...both('/by-name/counter/actions/add') },
  { what: 'a name like a word of the routes', ...both('/by-name/actions/render') },
  { what: 'an id like a word of the routes', ...both('/render/actions/render') },
  {
    what: 'the word of the by-name form in another spelling',
    ...both('/%62y-name/actions/render', '/surfaces/by-name/actions/render'),
  },
  { what: 'an id that is the word of the by-name form', ...onlyRecord('/by-name/render') },
  { what: 'an action of an id that is that word', ...onlyRecord('/by-name/actions/add') },
  { what: 'a surface alone', ...onlyRecord('/counter') },
  { what: 'another operation', ...onlyRecord('/counter/delete') },
  { what: 'an operation in another case', ...onlyRecord('/counter/Render') },
  { what: 'a segment too many', ...onlyRecord('/counter/render/now') },
  { what: 'an action without a name', ...onlyRecord('/counter/actions') },
  { what: 'many segments', ...onlyRecord('/by-name/counter/actions/add/now/again') },
  { what: 'a slash at the end', ...onlyRecord('/counter/render/') },
  { what: 'a dot at the start', ...onlyRecord('/.well-known/x') },
  { what: 'three dots', ...both('/.../render') },

  // Unusual but legal.
  { what: 'letters of other scripts', ...both('/gr%C3%B6%C3%9Fe-%E5%80%BC/render') },
  { what: 'an emoji', ...both('/%F0%9F%98%80/render') },
  { what: 'a parameter behind a semicolon', ...both('/counter;v=1/render', '/surfaces/counter%3Bv%3D1/render') },
  { what: 'a blank', ...both('/my%20list/render') },
  { what: 'a percent sign', ...both('/100%25/render') },
  { what: 'a colon and an at', ...both('/a:b@c/render', '/surfaces/a%3Ab%40c/render') },
  { what: '256 characters', ...both(`/${LONG}/render`) },
  { what: 'a question mark inside a name', path: '/faq%3F/render', surface: '/surfaces/faq%3F/render', record: null },

  // Attempts to leave the base path.
  { what: 'nothing', path: '', ...REFUSED },
  { what: 'a slash alone', path: '/', ...REFUSED },
  { what: 'two slashes', path: '//', ...REFUSED },
  { what: 'no slash at the start', path: 'counter/render', ...REFUSED },
  { what: 'another host', path: '//evil.example/render', ...REFUSED },
  { what: 'another host behind backslashes', path: '\\\\evil.example\\render', ...REFUSED },
  { what: 'another host behind one backslash', path: '/\\evil.example/render', ...REFUSED },
  { what: 'an absolute address', path: 'http://evil.example/render', ...REFUSED },
  { what: 'an absolute address as a segment', path: '/http://evil.example/render', ...REFUSED },
  { what: 'an empty segment inside', path: '/counter//render', ...REFUSED },
  { what: 'two slashes at the end', path: '/counter/render//', ...REFUSED },
  { what: 'a dot', path: '/./render', ...REFUSED },
  { what: 'two dots', path: '/../render', ...REFUSED },
  { what: 'two dots behind a surface', path: '/counter/actions/..', ...REFUSED },
  { what: 'encoded dots', path: '/%2e%2e/render', ...REFUSED },
  { what: 'an encoded dot', path: '/.%2E/render', ...REFUSED },
  { what: 'doubly encoded dots', path: '/%252e%252e/render', ...REFUSED },
  { what: 'threefold encoded dots', path: '/%25252e%25252e/render', ...REFUSED },
  { what: 'dots encoded without end', path: '/%25252525252525252e/render', ...REFUSED },
  { what: 'dots with a parameter', path: '/..;x=1/render', ...REFUSED },
  { what: 'encoded dots with a parameter', path: '/%2e%2e%3Bx/render', ...REFUSED },
  { what: 'a parameter of nothing', path: '/;x=1/render', ...REFUSED },
  { what: 'dots and a blank', path: '/..%20/render', ...REFUSED },
  { what: 'an encoded slash', path: '/a%2fb/render', ...REFUSED },
  { what: 'an encoded slash and dots', path: '/a%2F..%2Fb/render', ...REFUSED },
  { what: 'a doubly encoded slash', path: '/a%252fb/render', ...REFUSED },
  { what: 'a doubly encoded slash beside a percent sign', path: '/a%252fb%25/render', ...REFUSED },
  { what: 'a backslash', path: '/a\\b/render', ...REFUSED },
  { what: 'an encoded backslash', path: '/a%5cb/render', ...REFUSED },
  { what: 'a doubly encoded backslash', path: '/a%255Cb/render', ...REFUSED },
  { what: 'NUL', path: '/a%00/render', ...REFUSED },
  { what: 'a doubly encoded NUL', path: '/a%2500/render', ...REFUSED },
  { what: 'a line break', path: '/a%0d%0aHost:%20evil/render', ...REFUSED },
  { what: 'DEL', path: '/a%7f/render', ...REFUSED },
  { what: 'a control character of Latin-1', path: '/a%C2%85/render', ...REFUSED },
  { what: 'an overlong slash', path: '/a%c0%afb/render', ...REFUSED },
  { what: 'a doubly encoded overlong slash', path: '/a%25c0%25afb/render', ...REFUSED },
  { what: 'no UTF-8', path: '/%ff/render', ...REFUSED },
  { what: 'half an escape', path: '/a%/render', ...REFUSED },
  { what: 'half a surrogate pair', path: '/%ED%A0%80/render', ...REFUSED },
  { what: 'a raw blank', path: '/a b/render', ...REFUSED },
  { what: 'raw letters of Latin-1', path: '/gr\u00f6\u00dfe/render', ...REFUSED },
  { what: 'a raw tab', path: '/a\tb/render', ...REFUSED },
  { what: 'a fragment', path: '/counter/render#x', ...REFUSED },
  { what: 'dots of another script', path: '/%E2%80%A4%E2%80%A4/render', ...REFUSED },
  { what: 'a slash of another width', path: '/a%EF%BC%8Fb/render', ...REFUSED },
  { what: 'a doubly encoded slash of another width', path: '/a%25EF%25BC%258Fb/render', ...REFUSED },
  { what: '257 characters', path: `/${LONG}x/render`, ...REFUSED },
  { what: '257 encoded characters', path: `/${'%C3%BC'.repeat(257)}/render`, ...REFUSED },
];
