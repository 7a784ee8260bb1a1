import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { basePath, withoutSlash } from './base-path.js';
import { ChatError, MESSAGES, report, toChatError } from './chat-error.js';
import { siteFetch, type SiteHeaders } from './site-fetch.js';
import { type ActionFields, SurfaceClient, type SurfaceSite } from './surface/surface-client.js';
import type { Submission } from './surface/surface-view.js';
import { useLatest } from './use-latest.js';

/**
 * The widget and the site's routes for it: a `surfaceId` or a `name` is required, all others may be omitted or
 * undefined.
 *
 * @public
 */
export type ServiceSurfaceOptions = {
  /** The site's widget routes. Default `/api/service-surfaces`, in Next below the site's `basePath`. */
  readonly serviceSurfacesUrl?: string | undefined;
  /**
   * The site's configuration route, which is only read if the widget refers to images or media of other sites: those on
   * its `mediaOrigins` are shown. Default: `a2a/config` beside the widget routes, so `/api/a2a/config`.
   */
  readonly configEndpoint?: string | undefined;
  /** The input of the render, a JSON object. Default: the language of the document, as `locale`. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** Header fields for every request of the widget. Default none: the browser sends the site's cookies by itself. */
  readonly headers?: SiteHeaders | undefined;
  /** Called with every failure, including those shown in the widget. Default: failures are only shown. */
  readonly onError?: ((error: ChatError) => void) | undefined;
} & (
  { readonly surfaceId: string; readonly name?: undefined } | { readonly name: string; readonly surfaceId?: undefined }
);

/**
 * A headless widget: its state, and its actions.
 *
 * @public
 */
export interface ServiceSurfaceController {
  /** Pass this as `ref` to the element that shows the widget. It gets a shadow root. */
  readonly host: (element: HTMLElement | null) => void;
  /** True while the widget is rendered or an action is submitted. */
  readonly isBusy: boolean;
  /** The widget's title; empty until it is rendered. */
  readonly title: string;
  /** The platform's message about the last action; empty if there is none. */
  readonly message: string;
  /** The error of the last render or action; undefined if it succeeded. */
  readonly error: ChatError | undefined;
  /** Renders the widget again. */
  readonly refresh: () => Promise<void>;
  /**
   * Submits an action with the values of its fields (a list for a name that occurs more than once), as the widget's own
   * buttons and forms do, and renders the widget again. Does nothing while another action is being submitted.
   */
  readonly act: (action: string, fields?: Readonly<Record<string, string | readonly string[]>>) => Promise<void>;
}

/** One widget in one element. */
interface Mounted {
  refresh(): Promise<void>;
  act(action: string, submit: () => Submission): Promise<void>;
  /** Repeats the last action, with the values that its form has now, or the last render. */
  retry(): Promise<void>;
}

/**
 * The state and actions of `ServiceSurface`, without its rendering.
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
  return useSurface(options);
}

/** The same, for the component. */
export function useSurface(options: ServiceSurfaceOptions): ServiceSurfaceController & Pick<Mounted, 'retry'> {
  const { surfaceId, name, input } = options;
  const serviceSurfacesUrl = withoutSlash(options.serviceSurfacesUrl ?? `${basePath()}/api/service-surfaces`);
  const { configEndpoint = serviceSurfacesUrl.replace(/[^/]*$/, 'a2a/config') } = options;
  const [host, setHost] = useState<HTMLElement | null>(null);
  const [isBusy, setBusy] = useState(true);
  const [title, setTitle] = useState('');
  const [message, setMessage] = useState('');
  const [error, setError] = useState<ChatError>();
  const mounted = useRef<Mounted>(undefined);
  const latest = useLatest(options);
  // Compares by value, since each render passes new objects.
  const address = surfaceId === undefined ? { name } : { id: surfaceId };
  const key = JSON.stringify([{ serviceSurfacesUrl, configEndpoint, address }, input]);

  useEffect(() => {
    if (host === null) return undefined;
    const abort = new AbortController();
    const [site, given] = JSON.parse(key) as [SurfaceSite, object | null];
    const client = new SurfaceClient(
      site,
      siteFetch(() => latest.current.headers),
      abort.signal,
    );
    const view = import('./surface/surface-view.js').then(({ SurfaceView }) =>
      abort.signal.aborted ? undefined : new SurfaceView(host, client, act, refuseFile),
    );
    // Reported where it is awaited, unless the render failed before.
    view.catch(() => undefined);

    let retry = (): Promise<void> => refresh();
    const attempt = async (action: () => Promise<void> | void): Promise<void> => {
      setBusy(true);
      setError(undefined);
      try {
        await action();
      } catch (cause) {
        if (abort.signal.aborted) return;
        const failure = toChatError(cause);
        setError(failure);
        report(failure, latest.current.onError);
      }
      if (!abort.signal.aborted) setBusy(false);
    };
    let requested = 0;
    let shown = 0;
    const render = async (): Promise<void> => {
      const turn = ++requested;
      const rendered = await client.render(given ?? { locale: document.documentElement.lang });
      // An older render may arrive later, with an outdated state.
      if (abort.signal.aborted || turn < shown) return;
      shown = turn;
      setTitle(rendered.title);
      await (await view)?.show(rendered.html);
    };
    const refresh = (): Promise<void> => {
      retry = refresh;
      return attempt(render);
    };
    function refuseFile(field: string): Promise<void> {
      return attempt(() => {
        setMessage('');
        throw new ChatError('file_refused', `${field}: ${MESSAGES.noFiles}`);
      });
    }
    let isActing = false;
    async function act(action: string, submit: () => Submission): Promise<void> {
      if (isActing) return;
      isActing = true;
      retry = () => act(action, submit);
      await attempt(async () => {
        setMessage('');
        const { fields, onDone } = submit();
        const said = await client.act(action, fields);
        onDone?.();
        retry = refresh;
        try {
          await render();
        } catch (cause) {
          throw new ChatError(toChatError(cause).code, MESSAGES.doneNotShown, { cause });
        } finally {
          // Only now, since a confirmation beside the old state would be contradictory.
          if (!abort.signal.aborted) setMessage(said);
        }
      });
      isActing = false;
    }
    mounted.current = { refresh, act, retry: () => retry() };
    setMessage('');
    setTitle('');
    void refresh();
    return () => {
      abort.abort();
      void view.then(
        (shown) => shown?.close(),
        () => undefined,
      );
    };
  }, [host, key, latest]);

  const refresh = useCallback(async () => mounted.current?.refresh(), []);
  const act = useCallback(
    async (action: string, fields: ActionFields = {}) => mounted.current?.act(action, () => ({ fields })),
    [],
  );
  const retry = useCallback(async () => mounted.current?.retry(), []);
  return useMemo(
    () => ({ host: setHost, isBusy, title, message, error, refresh, act, retry }),
    [isBusy, title, message, error, refresh, act, retry],
  );
}
