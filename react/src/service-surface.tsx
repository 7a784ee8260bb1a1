import { forwardRef, type ForwardRefExoticComponent, type RefAttributes, useImperativeHandle, useRef } from 'react';

import { inBoundary } from './chat/boundary.js';
import { rootAttributes } from './chat/root-attributes.js';
import type { A2AChatProps } from './chat-props.js';
import { type ChatLabels, completeLabels, WIDGET_LABELS, wordsOf } from './labels.js';
import { type ServiceSurfaceController, type ServiceSurfaceOptions, useSurface } from './use-service-surface.js';

/**
 * Props of `ServiceSurface`: a `surfaceId` or a `name` is required, all others may be omitted or undefined.
 *
 * @public
 */
export type ServiceSurfaceProps = ServiceSurfaceOptions &
  Pick<A2AChatProps, 'className' | 'colorScheme' | 'dir' | 'showCause'> & {
    /** Replacements for the English texts about failures. Default: all in English. */
    readonly labels?: Partial<ChatLabels> | undefined;
  };

/**
 * Controls a widget through its `ref`.
 *
 * @public
 */
export type ServiceSurfaceHandle = Pick<ServiceSurfaceController, 'refresh' | 'act'>;

const Surface: ForwardRefExoticComponent<ServiceSurfaceProps & RefAttributes<ServiceSurfaceHandle>> = forwardRef(
  function ServiceSurface(props: ServiceSurfaceProps, ref) {
    const { host, isBusy, message, error, refresh, act, retry } = useSurface(props);
    const labels = completeLabels(WIDGET_LABELS, props.labels);
    const surface = useRef<HTMLDivElement>(null);
    useImperativeHandle(ref, () => ({ refresh, act }), [refresh, act]);
    const tryAgain = (): void => {
      surface.current?.focus(); // the button that was pressed is gone
      void retry();
    };

    return (
      <div {...rootAttributes(props, '')}>
        <div ref={surface} className="service-surface" aria-busy={isBusy} tabIndex={-1}>
          <div className="service-surface-host" ref={host} />
          <p className="service-surface-message" role="status">
            {message}
          </p>
          <div className="service-surface-failure" role="alert">
            {error !== undefined && <p>{wordsOf(error, labels, props.showCause)}</p>}
          </div>
          {error !== undefined && error.code !== 'file_refused' && (
            <button
              type="button"
              className="a2a-button"
              onClick={error.code === 'page_failed' ? () => location.reload() : tryAgain}
            >
              {error.code === 'page_failed' ? labels.reload : labels.tryAgain}
            </button>
          )}
        </div>
      </div>
    );
  },
);

/**
 * A widget of the platform, found by its id or its name, with the platform's own theme.
 *
 * @example
 * ```tsx
 * <ServiceSurface name="my-notes" input={{ locale: 'en' }} />;
 * ```
 *
 * @public
 */
export const ServiceSurface: ForwardRefExoticComponent<ServiceSurfaceProps & RefAttributes<ServiceSurfaceHandle>> =
  inBoundary(Surface);
