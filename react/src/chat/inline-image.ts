import { imageAddress, saveFile } from './file-bytes.js';

/** An image with its bytes in base64. */
export interface InlineImage {
  readonly base64: string;
  readonly type: string;
  readonly name: string;
  /** On the button that saves it. */
  readonly download: string;
}

/** Shows an image that came with its bytes, or a way to save it where it cannot be shown; returns its `blob:` address. */
export function showImage(element: Element, { base64, type, name, download }: InlineImage): string | undefined {
  const offer = (): void => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'a2a-button a2a-file a2a-download';
    button.textContent = download;
    button.addEventListener('click', () => saveFile(base64, name));
    element.replaceChildren(button);
  };
  const address = imageAddress(base64, type);
  if (address === undefined) {
    offer();
    return undefined;
  }
  const image = document.createElement('img');
  image.className = 'a2a-image';
  image.alt = name;
  image.addEventListener('error', offer);
  image.src = address;
  element.replaceChildren(image);
  return address;
}
