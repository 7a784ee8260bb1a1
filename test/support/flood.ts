import { randomBytes } from 'node:crypto';
import type { Exchange } from './recording-upstream.js';

const MIB = 1_048_576;

/** An agent that writes 64 MiB of incompressible events as fast as it can. */
export class Flood {
  readonly total = 64 * MIB;
  written = 0;

  constructor(exchange: Exchange) {
    void this.#write(exchange);
  }

  async #write({ response }: Exchange): Promise<void> {
    const event = Buffer.from(`data: ${randomBytes(49_146).toString('base64')}\n\n`);
    while (this.written < this.total) {
      if (response.destroyed) return;
      this.written += event.length;
      if (response.write(event)) continue;
      await new Promise<void>((resolve) => {
        const goOn = (): void => {
          response.off('drain', goOn).off('close', goOn);
          resolve();
        };
        response.on('drain', goOn).on('close', goOn);
      });
    }
    response.end();
  }
}
