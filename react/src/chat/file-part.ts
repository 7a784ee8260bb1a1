/** The largest file that fits into a message of 2 MB once its bytes are written in base64, in bytes. */
export const MAX_FILE_BYTES = 1.4 * 1024 * 1024;

export function isTooLarge({ size }: File): boolean {
  return size > MAX_FILE_BYTES;
}
