import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

import { Boundary } from './boundary.js';

interface LaterProps {
  /** Shown until the component is loaded. */
  readonly waiting: ReactNode;
  /** Shown if it cannot be loaded, or not rendered. */
  readonly failed: ReactNode;
  /** With a new value, what could not be loaded is loaded again. */
  readonly attempt?: unknown;
}

/**
 * A component in a file of its own. Unlike React's `lazy`, it loads the file again with the next use if that has failed,
 * since a connection may be lost for a moment only. Older browsers, such as Firefox before 155, keep the failure of a
 * module until the page is reloaded.
 */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let Loaded: ComponentType<Props> | undefined;
  return function Later({ waiting, failed, attempt, ...props }: Props & LaterProps): ReactNode {
    const [hasFailed, setFailed] = useState<boolean>();
    useEffect(() => {
      if (Loaded !== undefined) return;
      load().then(
        (component) => {
          Loaded = component;
          setFailed(false);
        },
        () => setFailed(true),
      );
    }, [attempt]);
    if (Loaded === undefined) return hasFailed === true ? failed : waiting;
    return (
      <Boundary fallback={failed}>
        <Loaded {...(props as unknown as Props)} />
      </Boundary>
    );
  };
}
