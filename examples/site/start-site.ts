import { openListener } from '../http-listener.js';
import { createSite, type SiteOptions } from './server.js';

export interface StartSiteOptions extends SiteOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Address to listen at. Default: 127.0.0.1. Whatever it is, the site is called by loopback names only. */
  readonly host?: string;
}

export interface Site {
  readonly url: string;
  /** Ends every connection, open streams too. */
  close(): Promise<void>;
}

/** Starts the site for this machine's own browsers. Rejects with Node's error when the port cannot be had. */
export async function startSite({ port, host = '127.0.0.1', ...options }: StartSiteOptions): Promise<Site> {
  const listener = await openListener(port, host);
  listener.server.on('request', createSite(options));
  return { url: `http://localhost:${listener.port}`, close: listener.close };
}
