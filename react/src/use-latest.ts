import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** `useLayoutEffect`, without the warning React 18 gives for it on a server. */
export const useBrowserLayoutEffect = typeof window === 'undefined' ? useEffect : useLayoutEffect;

/** A value as the last render had it, for what is called later. */
export function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value);
  useBrowserLayoutEffect(() => {
    latest.current = value;
  });
  return latest;
}
