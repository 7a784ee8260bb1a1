import { createToolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';

import { listeningSite } from '../site/frameworks/listening-site.js';
import { RecordingUpstream } from './recording-upstream.js';

/** A site and its platform, with one widget whose markup the test provides. */
export interface FormSite {
  readonly url: string;
  /** The markup of the widget. */
  html: string;
  /** The bodies of the action “save” that the platform received. */
  received(): readonly unknown[];
  /** The addresses of the requests to the platform. */
  targets(): readonly string[];
  forget(): void;
  close(): Promise<void>;
}

export async function startFormSite(): Promise<FormSite> {
  const upstream = await RecordingUpstream.start();
  upstream.willAnswer((exchange) => {
    const { target } = exchange.request;
    if (target.endsWith('theme.css')) exchange.head(200, { 'content-type': 'text/css' }).end();
    else if (target.includes('/actions/')) exchange.json(200, { message: 'Saved.' });
    else exchange.json(200, { id: 'form', title: 'A form', html: site.html });
  });
  const toolkit = createToolkit({ serviceApiUrl: upstream.origin, serviceApiKey: 'key', telemetry: 'silent' });
  const handler = createNodeHandler({ toolkit });
  const listening = await listeningSite((request, response) => {
    handler(request, response, () => response.writeHead(404).end());
  });
  const site: FormSite = {
    url: listening.url,
    html: '',
    received: () =>
      upstream.requests
        .filter(({ target }) => target.endsWith('/actions/save'))
        .map(({ body }) => JSON.parse(body.toString()) as unknown),
    targets: () => upstream.requests.map(({ target }) => target),
    forget: () => {
      upstream.requests.length = 0;
    },
    close: async () => {
      await listening.close();
      await toolkit.close();
      await upstream.close();
    },
  };
  return site;
}
