import { describe, expect, it } from 'vitest';
import { PATH_CORPUS, type PathCase } from '../../support/path-corpus.js';
import { RawClient } from '../../support/raw-client.js';
import { type Framework, queryBehind } from '../framework.js';
import { ADA, type PlatformWorld, sentPaths, startPlatformWorld } from '../platform-world.js';

/** The result of one raw path: the response, and the requests to the platform. */
interface Verdict {
  readonly what: string;
  readonly passed: boolean;
  readonly sent: readonly string[];
}

/** Raw paths, as in a request line. */
export function pathSuite(framework: Framework): void {
  describe('a raw path', () => {
    it('below the widgets is forwarded or rejected as in the corpus', async () => {
      const world = await startPlatformWorld(framework);
      const verdicts: Verdict[] = [];
      for (const { what, path } of PATH_CORPUS) {
        verdicts.push(await verdict(world, what, 'POST', `/api/service-surfaces${path}`));
      }
      expectVerdicts(framework, verdicts, ({ surface }) => surface);
    });

    it('below the records is forwarded or rejected as in the corpus', async () => {
      const world = await startPlatformWorld(framework);
      const verdicts: Verdict[] = [];
      for (const { what, path } of PATH_CORPUS) {
        verdicts.push(await verdict(world, what, 'GET', `/api/service${path}`));
      }
      expectVerdicts(framework, verdicts, ({ record }) => record);
    });

    it.each(['http://evil.example', 'http://evil.example@site.example', 'https://evil.example:1'])(
      'after the origin %s still goes to the platform',
      async (origin) => {
        const world = await startPlatformWorld(framework);
        for (const [method, path] of [
          ['POST', '/api/service-surfaces/counter/render'],
          ['GET', '/api/service/conversations'],
        ] as const) {
          await send(world, method, origin + path);
        }
        const ways = ['/surfaces/counter/render', '/conversations'];
        expect(ways).toEqual(expect.arrayContaining([...sentPaths(world)]));
        const { host } = new URL(world.upstream.origin);
        for (const { fields } of world.upstream.requests) expect(fields).toContainEqual(['host', host]);
      },
    );

    if (framework.refusesWholeTargets !== true)
      it('may be a whole address, on every route', async () => {
        const world = await startPlatformWorld(framework);
        const seen: number[] = [];
        // Servers of Web standard hosts reject a scheme in upper case.
        const scheme = framework.isWebStandard === true ? 'http' : 'HTTPS';
        for (const origin of ['http://site.example', `${scheme}://site.example:8443`]) {
          for (const path of ['/api/a2a', '/api/a2a/', '/api/a2a?a=1', '/api/service-surfaces/counter/render?a=1'])
            seen.push(await send(world, 'POST', origin + path));
          seen.push(await send(world, 'GET', `${origin}/api/service/conversations`));
        }
        // 400: the chat reads the empty message.
        expect(seen).toEqual([400, 400, 400, 200, 200, 400, 400, 400, 200, 200]);
        const sent = ['/surfaces/counter/render?a=1', '/conversations'];
        expect(sentPaths(world)).toEqual([...sent, ...sent]);
      });

    it('keeps its query unchanged, and gets a 400 for a query that no browser sends', async () => {
      const world = await startPlatformWorld(framework);
      const query = '?a=1&a=2&empty=&bare&b=%2F%20x+y&c=%E2%82%AC&d=;/?:@&e=..%2f..&f={}|[]';
      await send(world, 'POST', `/api/service-surfaces/counter/render${query}`);
      await send(world, 'GET', `/api/service/conversations${query}`);
      const kept = queryBehind(framework, query);
      expect(sentPaths(world)).toEqual([`/surfaces/counter/render${kept}`, `/conversations${kept}`]);
      world.upstream.requests.length = 0;
      // By the URL standard, a host encodes or drops the others, if Node's parser lets them pass, as it did before 20.20.
      for (const refused of ['?a b', ...(framework.resolvesPaths === true ? [] : ['?\u00e9', '?a\tb', '?a=1#b'])]) {
        expect(await send(world, 'POST', `/api/service-surfaces/counter/render${refused}`)).toBeOneOf([400, 404]);
        expect(await send(world, 'GET', `/api/service/conversations${refused}`)).toBeOneOf([400, 404]);
      }
      expect(sentPaths(world)).toEqual([]);
    });
  });
}

/** Expects the result in the corpus for each path, or for the resolved path on frameworks that resolve paths. */
function expectVerdicts(
  { resolvesPaths = false }: Framework,
  verdicts: readonly Verdict[],
  place: (path: PathCase) => string | null,
): void {
  const expected = PATH_CORPUS.map((path, index) => {
    const other = resolvesPaths ? resolved(path.path) : path.path;
    // A path outside the corpus is a plain path and not one of a widget.
    const known = PATH_CORPUS.find((candidate) => candidate.path === other) ?? {
      ...path,
      path: other,
      surface: /^\/[\w%]+\/render$/.test(other) ? `/surfaces${other}` : null,
      record: other,
    };
    const wentAsResolved = verdicts[index]?.sent[0] === place(known);
    const target = wentAsResolved ? place(known) : place(path);
    return { what: path.what, passed: target !== null, sent: target === null ? [] : [target] };
  });
  expect(verdicts).toEqual(expected);
}

/** Resolves a path below a mount point by the URL standard. A path that leaves the mount point is returned unchanged. */
function resolved(path: string): string {
  const mount = 'http://site.example/api/mount';
  const href = URL.canParse(mount + path) ? new URL(mount + path).href : '';
  return href.startsWith(`${mount}/`) ? (href.slice(mount.length).split('#')[0] ?? '') : path;
}

async function verdict(world: PlatformWorld, what: string, method: string, target: string): Promise<Verdict> {
  world.upstream.requests.length = 0;
  const status = await send(world, method, target);
  return { what, passed: status === 200, sent: sentPaths(world) };
}

/** The status of the response. A response of the host, outside the routes, counts as 404. */
async function send(world: PlatformWorld, method: string, target: string): Promise<number> {
  const client = await RawClient.connect(world.url);
  const head = `Host: site.example\r\nCookie: ${ADA.cookie}\r\nConnection: close\r\n`;
  const body = method === 'POST' ? 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' : '\r\n';
  await client.send(Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}${body}`, 'latin1'));
  const answer = await client.ending();
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
  return status === 200 && answer.endsWith('host') ? 404 : status;
}
