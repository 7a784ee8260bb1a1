import { useRef } from 'react';

import type { ChatUser } from './chat-props.js';
import { useBrowserLayoutEffect } from './use-latest.js';

type MaybeUser = ChatUser | null | undefined;

/** Calls back before the browser paints a page whose user has signed out, or is another one. */
export function useUserChange(user: MaybeUser, onChange: () => void): void {
  const former = useRef(user);
  useBrowserLayoutEffect(() => {
    if (hasLeft(former.current, user)) onChange();
    former.current = user;
  });
}

/** Session libraries return a new object each time, and may add the picture later. */
function hasLeft(former: MaybeUser, user: MaybeUser): boolean {
  if (!former || !user) return !!former;
  const field = former.name ? 'name' : 'picture';
  return !!former[field] && former[field] !== user[field];
}
