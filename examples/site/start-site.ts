import { openListener } from '../http-listener.js';
import { createSite, type SiteOptions } from './server.js';

export interface StartSiteOptions extends SiteOptions {
  /** 0 takes any free port. */
  readonly port: number;
}

export interface Site {
  readonly url: string;
  /** Ends every connection, open streams too. */
  close(): Promise<void>;
}

/** Starts the site for this machine's own browsers. Rejects with Node's error when the port cannot be had. */
export async function startSite({ port, ...options }: StartSiteOptions): Promise<Site> {
  const listener = await openListener(port, '127.0.0.1');
  listener.server.on('request', createSite(options));
  return { url: `http://localhost:${listener.port}`, close: listener.close };
}
