import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The part of a request that a foreign site sees. */
export interface ForeignRequest {
  readonly path: string;
  readonly referrer: string | undefined;
}

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** A site on another origin than the page. It records every request and responds with an image. */
export class ForeignSite {
  readonly requests: ForeignRequest[] = [];
  readonly #server: Server = createServer(({ url = '', headers }, response) => {
    this.requests.push({ path: url, referrer: headers.referer });
    response.writeHead(200, { 'content-type': 'image/gif', 'access-control-allow-origin': '*' }).end(PIXEL);
  });

  static async start(): Promise<ForeignSite> {
    const site = new ForeignSite();
    await new Promise<void>((resolve) => site.#server.listen(0, '127.0.0.1', resolve));
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
