import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** `useLayoutEffect`, without the warning of React 18 on a server. */
export const useBrowserLayoutEffect = typeof window === 'undefined' ? useEffect : useLayoutEffect;

/** The value of the last render, for code that runs later. */
export function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value);
  useBrowserLayoutEffect(() => {
    latest.current = value;
  });
  return latest;
}
