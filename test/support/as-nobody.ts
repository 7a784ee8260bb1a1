/** Runs a call without the rights of root, who may read every file; as anybody else it changes nothing. */
export async function asNobody<T>(call: () => Promise<T>): Promise<T> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    return await call();
  } finally {
    if (root) process.seteuid?.(0);
  }
}
