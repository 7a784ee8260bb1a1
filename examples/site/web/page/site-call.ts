/** Reads from one of the demo's own routes, or writes to it; throws for every status except success. */
export async function callSite<Body>(path: string, body?: object): Promise<Body> {
  const request: RequestInit =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, request);
  if (!response.ok) throw new Error(`${path} answered with status ${response.status}.`);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}
