import { listeningSite } from '../site/frameworks/listening-site.js';

/** The part of a request that a foreign site sees. */
export interface ForeignRequest {
  readonly path: string;
  readonly referrer: string | undefined;
}

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** A site on another origin than the page. It records every request and responds with an image. */
export class ForeignSite {
  readonly requests: ForeignRequest[] = [];
  origin = '';
  close: () => Promise<void> = () => Promise.resolve();

  static async start(): Promise<ForeignSite> {
    const site = new ForeignSite();
    const { url, close } = await listeningSite(({ url: path = '', headers }, response) => {
      site.requests.push({ path, referrer: headers.referer });
      response.writeHead(200, { 'content-type': 'image/gif', 'access-control-allow-origin': '*' }).end(PIXEL);
    });
    return Object.assign(site, { origin: url, close });
  }
}
