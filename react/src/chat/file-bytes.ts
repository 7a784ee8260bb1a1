/** Image types that browsers show and that cannot run scripts. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif)$/i;
/** The longest image shown, in characters of base64; longer ones are offered for download. */
const MAX_IMAGE = 8_000_000;

/** The bytes of an image as a `blob:` address, to be revoked when it is no longer shown; undefined if it is not shown. */
export function imageAddress(base64: string, type: string): string | undefined {
  if (!IMAGE.test(type) || base64.length > MAX_IMAGE) return undefined;
  const blob = toBlob(base64, type);
  return blob === undefined ? undefined : URL.createObjectURL(blob);
}

/** Hands the bytes to the browser's downloads, as a type that no browser opens as a page. */
export function saveFile(base64: string, name: string): void {
  const blob = toBlob(base64, 'application/octet-stream');
  if (blob === undefined) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function toBlob(base64: string, type: string): Blob | undefined {
  try {
    const binary = atob(base64.replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
    return new Blob([bytes], { type });
  } catch {
    return undefined; // not base64
  }
}
