import { useEffect, useState } from 'react';

/** The signed-in user, as stored in the site's session. */
export interface User {
  readonly name: string;
  /** Address of an image. */
  readonly picture: string;
}

/** The signed-in user: `undefined` until known, `null` if not signed in. */
export function useSignedInUser(): User | null | undefined {
  const [user, setUser] = useState<User | null>();
  useEffect(() => {
    const abort = new AbortController();
    void fetch('/auth/me', { signal: abort.signal })
      .then((response) => response.json() as Promise<{ user: User | null }>)
      .then((answer) => setUser(answer.user))
      .catch(() => {
        if (!abort.signal.aborted) setUser(null);
      });
    return () => abort.abort();
  }, []);
  return user;
}
