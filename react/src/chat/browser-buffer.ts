/**
 * The A2A client reads and writes the bytes of a file with Node's `Buffer`, which browsers do not have.
 * This gives it the three calls it makes, and leaves a `Buffer` that is already there alone.
 */
export function provideBuffer(): void {
  const scope = globalThis as { Buffer?: unknown };
  scope.Buffer ??= BrowserBuffer;
}

class BrowserBuffer extends Uint8Array<ArrayBuffer> {
  static override from(source: ArrayLike<number> | Iterable<number> | string): BrowserBuffer {
    const bytes = typeof source === 'string' ? bytesOf(source) : Uint8Array.from(source as ArrayLike<number>);
    return new BrowserBuffer(bytes.buffer);
  }

  static isBuffer(value: unknown): boolean {
    return value instanceof BrowserBuffer;
  }

  override toString(encoding?: string): string {
    return encoding === 'base64' ? base64Of(this) : new TextDecoder().decode(this);
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function base64Of(bytes: Uint8Array): string {
  // In slices: one call takes only so many arguments.
  const SLICE = 0x8000;
  const slices = Array.from({ length: Math.ceil(bytes.length / SLICE) }, (_, index) =>
    String.fromCharCode(...bytes.subarray(index * SLICE, (index + 1) * SLICE)),
  );
  return btoa(slices.join(''));
}
