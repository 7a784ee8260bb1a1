import { useEffect, useState } from 'react';

import { callSite } from './site-call';

interface Hit {
  readonly method: string;
  readonly path: string;
  readonly count: number;
}

interface HitList {
  readonly hits: readonly Hit[];
  readonly total: number;
}

const POLL_MS = 1000;

/** The platform's requests; a cached render causes none. */
export function Hits() {
  const { hits, total } = useHits();
  return (
    <section className="card" aria-labelledby="hits-title">
      <header>
        <h2 id="hits-title">What reached the platform</h2>
        <span className="badge" aria-label={`${total} requests`}>
          {total}
        </span>
      </header>
      {hits.length === 0 ? (
        <p className="quiet">Nothing yet.</p>
      ) : (
        <div className="hits" tabIndex={0} role="region" aria-label="Requests, the latest first">
          <table>
            <thead>
              <tr>
                <th scope="col">Request</th>
                <th scope="col">Times</th>
              </tr>
            </thead>
            <tbody>
              {hits.map(({ method, path, count }) => (
                <tr key={`${method} ${path}`}>
                  <td>
                    <b>{method}</b> <code>{path}</code>
                  </td>
                  <td>{count}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="quiet">Render a widget twice within three seconds: the second one costs the platform nothing.</p>
    </section>
  );
}

/** Polls, but only while the page is visible. */
function useHits(): HitList {
  const [list, setList] = useState<HitList>({ hits: [], total: 0 });
  useEffect(() => {
    const poll = async (): Promise<void> => {
      if (document.hidden) return;
      // The next poll shows what this one misses.
      await callSite<HitList>('/demo/hits').then(setList, () => undefined);
    };
    void poll();
    const timer = setInterval(() => void poll(), POLL_MS);
    return () => clearInterval(timer);
  }, []);
  return list;
}
