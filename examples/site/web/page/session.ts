import { useEffect, useState } from 'react';

import type { ChatUser } from '../components';

/** Who is signed in: `undefined` until that is known, `null` for nobody. */
export function useSignedInUser(): ChatUser | null | undefined {
  const [user, setUser] = useState<ChatUser | null>();
  useEffect(() => {
    const abort = new AbortController();
    void fetch('/auth/me', { signal: abort.signal })
      .then((response) => response.json() as Promise<{ user: ChatUser | null }>)
      .then((answer) => setUser(answer.user))
      .catch(() => {
        if (!abort.signal.aborted) setUser(null);
      });
    return () => abort.abort();
  }, []);
  return user;
}
