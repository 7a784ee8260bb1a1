import { useEffect, useState } from 'react';

/** Who is signed in, as the site's session knows them. */
export interface User {
  readonly name: string;
  /** Address of an image. */
  readonly picture: string;
}

/** Who is signed in: `undefined` until that is known, `null` for nobody. */
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
