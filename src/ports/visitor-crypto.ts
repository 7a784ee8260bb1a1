/** The cryptography that binds conversations to visitors. */
export interface VisitorCrypto {
  /** Unpredictable random bytes. */
  random(length: number): Uint8Array;
  /** The HMAC-SHA256 of a text in UTF-8, in lower-case hex. */
  mac(key: Uint8Array, text: string): string;
  /** Compares texts of ASCII in a time that does not depend on their contents. */
  equal(one: string, other: string): boolean;
  /** Encrypts bytes so that they open only under the same key and name. The result is base64url. */
  seal(key: Uint8Array, name: string, bytes: Uint8Array): string;
  /** The bytes of a sealed text; `undefined` if it was changed, or belongs to another key or name. */
  open(key: Uint8Array, name: string, sealed: string): Uint8Array | undefined;
}
