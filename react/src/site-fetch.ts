import { lost } from './chat-error.js';

/**
 * Header fields a component adds to its requests to the site: a value, or a function that is called for each request.
 *
 * @public
 */
export type SiteHeaders = HeadersInit | (() => HeadersInit | Promise<HeadersInit>);

/** `fetch` with the header fields that the page adds, and with the cookies of a site on another origin too. */
export function siteFetch(headers: () => SiteHeaders | undefined): typeof fetch {
  return async (input, init) => {
    const given = headers();
    const fields = new Headers(init?.headers);
    for (const field of new Headers(typeof given === 'function' ? await given() : given)) fields.set(...field);
    return fetch(input, { ...init, credentials: 'include', headers: fields }).catch((cause: unknown) =>
      lost(cause, elsewhere(input as string)),
    );
  };
}

/** The fix if the address is on another origin; browsers name no reason. */
function elsewhere(address: string): string | undefined {
  const { origin } = new URL(address, location.href);
  return origin === location.origin
    ? undefined
    : `If ${origin} runs, add "${location.origin}" to its "allowedOrigins" and CORS, with credentials.`;
}

/**
 * The body of a response, if it is a JSON object with at least the given members.
 *
 * @throws ChatError for every status except success, with the message of the problem document if there is one; and for a
 *   response of something else, such as the page of a development server, with its address in `cause`.
 */
export async function readJson<Body>(response: Response, ...members: readonly (keyof Body)[]): Promise<Body> {
  await checkStatus(response);
  const text = await response.text().catch(lost);
  const body = objectIn(text);
  if (body !== undefined && members.every((member) => member in body)) return body as Body;
  throw (await import('./site-error.js')).notARoute(response);
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @throws ChatError for every status except success. */
export async function checkStatus(response: Response): Promise<void> {
  if (response.ok) return;
  const text = await response.text().catch(() => '');
  throw (await import('./site-error.js')).siteError(
    objectIn(text) as Readonly<Record<string, unknown>> | undefined,
    response,
    text,
  );
}
