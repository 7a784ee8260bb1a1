import { openListener } from '../http-listener.js';
import { createSite, type SiteOptions } from './server.js';

export interface StartSiteOptions extends SiteOptions {
  /** 0 is any free port. */
  readonly port: number;
  /** Address to listen on. Default: 127.0.0.1. The site only accepts loopback host names in any case. */
  readonly host?: string;
}

export interface Site {
  readonly url: string;
  /** Closes every connection, including open streams. */
  close(): Promise<void>;
}

/** Starts the site for browsers on this machine. Rejects with Node's error if the port is unavailable. */
export async function startSite({ port, host = '127.0.0.1', ...options }: StartSiteOptions): Promise<Site> {
  const listener = await openListener(port, host);
  listener.server.on('request', createSite(options));
  return { url: `http://localhost:${listener.port}`, close: listener.close };
}
