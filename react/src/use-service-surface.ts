import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { ChatError, MESSAGES, toChatError } from './chat-error.js';
import { siteFetch, type SiteHeaders } from './site-fetch.js';
import { type ActionFields, SurfaceClient, type SurfaceInput, type SurfaceSite } from './surface/surface-client.js';
import { useLatest } from './use-latest.js';

/**
 * Which widget it is, and where the site serves it: a `surfaceId` or a `name`, all else may be left out or undefined.
 *
 * @public
 */
export type ServiceSurfaceOptions = {
  /** The site's widget routes. Default `/api/service-surfaces`. */
  readonly serviceSurfacesUrl?: string | undefined;
  /**
   * The site's configuration route, which is read only if the widget names images or media of other sites: its
   * `mediaOrigins` are shown. Default: `a2a/config` beside the widget routes, so `/api/a2a/config`.
   */
  readonly configEndpoint?: string | undefined;
  /** What the render depends on. Default: the language of the document, as `locale`. */
  readonly input?: SurfaceInput | undefined;
  /** Header fields for every request of the widget. Default none: the browser sends the site's cookies by itself. */
  readonly headers?: SiteHeaders | undefined;
  /** Called with every failure, also when it is shown. Default: failures are only shown. */
  readonly onError?: ((error: ChatError) => void) | undefined;
} & (
  { readonly surfaceId: string; readonly name?: undefined } | { readonly name: string; readonly surfaceId?: undefined }
);

/**
 * A widget without looks of its own: its state, and what can be done with it.
 *
 * @public
 */
export interface ServiceSurfaceController {
  /** Give this to the element the widget is shown in, as its `ref`. It gets a shadow root. */
  readonly host: (element: HTMLElement | null) => void;
  /** True while the widget is rendered or an action is submitted. */
  readonly isBusy: boolean;
  /** The widget's title; empty until it is rendered. */
  readonly title: string;
  /** What the platform said to the last action; empty when it said nothing. */
  readonly message: string;
  /** Why the last render or action failed; undefined when it did not. */
  readonly error: ChatError | undefined;
  /** Renders the widget again. */
  readonly refresh: () => Promise<void>;
  /**
   * Submits an action, as the widget's own buttons and forms do, and renders the widget again. Does nothing while another
   * action is being submitted.
   */
  readonly act: (action: string, fields?: ActionFields) => Promise<void>;
}

/** One widget in one element. */
interface Mounted {
  refresh(): Promise<void>;
  act(action: string, fields: ActionFields): Promise<void>;
}

/**
 * The widget of `ServiceSurface` without its looks.
 *
 * @param options - See {@link ServiceSurfaceOptions}; a `surfaceId` or a `name` is required.
 *
 * @example
 * ```tsx
 * function Poll() {
 *   const poll = useServiceSurface({ surfaceId: 'poll' });
 *   return <div ref={poll.host} aria-busy={poll.isBusy} />;
 * }
 * ```
 *
 * @public
 */
export function useServiceSurface(options: ServiceSurfaceOptions): ServiceSurfaceController {
  const { surfaceId, name, serviceSurfacesUrl = '/api/service-surfaces', input } = options;
  const { configEndpoint = serviceSurfacesUrl.replace(/[^/]*$/, 'a2a/config') } = options;
  const [host, setHost] = useState<HTMLElement | null>(null);
  const [isBusy, setBusy] = useState(true);
  const [title, setTitle] = useState('');
  const [message, setMessage] = useState('');
  const [error, setError] = useState<ChatError>();
  const mounted = useRef<Mounted>(undefined);
  const latest = useLatest(options);
  // Equal values are equal here, whichever objects a render brings.
  const address = surfaceId === undefined ? { name } : { id: surfaceId };
  const key = JSON.stringify([{ serviceSurfacesUrl, configEndpoint, address }, input]);

  useEffect(() => {
    if (host === null) return undefined;
    const abort = new AbortController();
    const [site, given] = JSON.parse(key) as [SurfaceSite, SurfaceInput | null];
    const client = new SurfaceClient(
      site,
      siteFetch(() => latest.current.headers),
      abort.signal,
    );
    const view = import('./surface/surface-view.js').then(({ SurfaceView }) =>
      abort.signal.aborted ? undefined : new SurfaceView(host, client, act),
    );

    // Said where it is awaited, unless the render was refused before.
    view.catch(() => undefined);

    const attempt = async (action: () => Promise<void>): Promise<void> => {
      setBusy(true);
      setError(undefined);
      try {
        await action();
      } catch (cause) {
        if (abort.signal.aborted) return;
        const failure = toChatError(cause);
        setError(failure);
        latest.current.onError?.(failure);
      }
      if (!abort.signal.aborted) setBusy(false);
    };
    const render = async (): Promise<void> => {
      const rendered = await client.render(given ?? { locale: document.documentElement.lang });
      if (abort.signal.aborted) return;
      setTitle(rendered.title);
      await (await view)?.show(rendered.html);
    };
    const refresh = (): Promise<void> => attempt(render);
    let isActing = false;
    async function act(action: string, fields: ActionFields): Promise<void> {
      if (isActing) return;
      isActing = true;
      await attempt(async () => {
        setMessage('');
        const said = await client.act(action, fields);
        if (!abort.signal.aborted) setMessage(said);
        await render().catch((cause: unknown) => {
          throw new ChatError(toChatError(cause).code, MESSAGES.doneNotShown, { cause });
        });
      });
      isActing = false;
    }
    mounted.current = { refresh, act };
    void refresh();
    return () => {
      abort.abort();
      void view.then((shown) => shown?.close()).catch(() => undefined);
    };
  }, [host, key, latest]);

  const refresh = useCallback(async () => mounted.current?.refresh(), []);
  const act = useCallback(
    async (action: string, fields: ActionFields = {}) => mounted.current?.act(action, fields),
    [],
  );
  return useMemo(
    () => ({ host: setHost, isBusy, title, message, error, refresh, act }),
    [isBusy, title, message, error, refresh, act],
  );
}
