/** The cryptography that binds conversations to visitors. */
export interface VisitorCrypto {
  /** Unpredictable random bytes as text. */
  random(bytes: number, encoding: 'hex' | 'base64url'): string;
  /** The HMAC-SHA256 of a text in UTF-8, in lower-case hex. */
  mac(key: Uint8Array | string, text: string): string;
  /** Compares texts of ASCII in a time that does not depend on their contents. */
  equal(one: string, other: string): boolean;
  /** Encrypts a text so that it opens only under the same key and name. The result is base64url. */
  seal(key: Uint8Array, name: string, text: string): string;
  /** The text that was sealed; `undefined` if it was changed, or belongs to another key or name. */
  open(key: Uint8Array, name: string, sealed: string): string | undefined;
}
