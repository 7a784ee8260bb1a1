/** The largest file that fits into a message of 2 MB once its bytes are written in base64, in bytes. */
export const MAX_FILE_BYTES = 1.4 * 1024 * 1024;

export function isTooLarge({ size }: File): boolean {
  return size > MAX_FILE_BYTES;
}

export function describeSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  // Rounded up, so that a file just over the limit never shows the limit's size.
  return `${Math.ceil((bytes / 1024 / 1024) * 10) / 10} MB`;
}
