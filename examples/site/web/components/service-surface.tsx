import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';

import { describeFailure } from './chat/failure';
import { type SurfaceAddress, SurfaceClient, type SurfaceInput } from './surface/surface-client';
import { SurfaceView } from './surface/surface-view';
import './service-surface.css';

/** What a page can do with a widget it has put somewhere. */
export interface ServiceSurfaceHandle {
  /** Renders the widget again. */
  refresh(): Promise<void>;
}

export type ServiceSurfaceProps = {
  /** The site's widget route. Default `/api/service-surfaces`. */
  readonly serviceSurfacesUrl?: string;
  /** What the render depends on. Default: the language of the document, as `locale`. */
  readonly input?: SurfaceInput;
  readonly ref?: Ref<ServiceSurfaceHandle>;
} & (
  { readonly surfaceId: string; readonly name?: undefined } | { readonly name: string; readonly surfaceId?: undefined }
);

/**
 * A widget of the platform, found by its id or its name, in the platform's own theme.
 *
 * @example
 * ```tsx
 * <ServiceSurface surfaceId="poll" />
 * <ServiceSurface name="my-notes" input={{ locale: 'en' }} />
 * ```
 */
export function ServiceSurface({
  surfaceId,
  name,
  serviceSurfacesUrl = '/api/service-surfaces',
  input,
  ref,
}: ServiceSurfaceProps) {
  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<{ refresh: () => Promise<void> }>(null);
  const [isBusy, setBusy] = useState(true);
  const [message, setMessage] = useState('');
  const [failure, setFailure] = useState('');

  const address: SurfaceAddress = surfaceId === undefined ? { name } : { id: surfaceId };
  const addressText = JSON.stringify([serviceSurfacesUrl, address, input ?? { locale: document.documentElement.lang }]);

  useEffect(() => {
    if (host.current === null) return undefined;
    const abort = new AbortController();
    const [url, where, what] = JSON.parse(addressText) as [string, SurfaceAddress, SurfaceInput];
    const client = new SurfaceClient(url, where, abort.signal);
    const view = new SurfaceView(host.current, client.themeUrl);

    const attempt = async (action: () => Promise<void>): Promise<void> => {
      setBusy(true);
      setFailure('');
      try {
        await action();
      } catch (error) {
        if (!abort.signal.aborted) setFailure(describeFailure(error));
      }
      if (!abort.signal.aborted) setBusy(false);
    };
    const render = async (): Promise<void> => view.show((await client.render(what)).html);
    const refresh = (): Promise<void> => attempt(render);

    view.onAction = (action, fields) => {
      void attempt(async () => {
        setMessage('');
        const said = await client.act(action, fields);
        await render();
        setMessage(said);
      });
    };
    surface.current = { refresh };
    void refresh();
    return () => {
      abort.abort();
      view.close();
    };
  }, [addressText]);

  useImperativeHandle(ref, () => ({ refresh: async () => surface.current?.refresh() }), []);

  return (
    <div className="service-surface" aria-busy={isBusy}>
      <div className="service-surface-host" ref={host} />
      <p className="service-surface-message" role="status">
        {message}
      </p>
      <div className="service-surface-failure" role="alert">
        {failure !== '' && <p>{failure}</p>}
      </div>
      {failure !== '' && (
        <button type="button" className="service-surface-retry" onClick={() => void surface.current?.refresh()}>
          Try again
        </button>
      )}
    </div>
  );
}
