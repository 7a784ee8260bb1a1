// Random once, then counted: unique across processes, and free per request.
const prefix = crypto.randomUUID().slice(0, 8);
let count = 0;

/** A name for one request, such as `3f9a1c07-2s`. */
export function newRequestId(): string {
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
