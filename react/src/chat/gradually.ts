import { useEffect, useState } from 'react';

/** The number of items to show. It grows in each task, so that thousands of items do not block the page. */
export function useGradually(length: number, step: number): number {
  const [count, setCount] = useState(step);
  useEffect(() => {
    const timer = count < length ? setTimeout(setCount, 0, count + step) : undefined;
    return () => clearTimeout(timer);
  }, [count, length, step]);
  return count;
}
