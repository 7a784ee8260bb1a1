/** Runs a call without root's right to read every file. Has no effect for other users. */
export async function asNobody<T>(call: () => Promise<T>): Promise<T> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    return await call();
  } finally {
    if (root) process.seteuid?.(0);
  }
}
