/** A refusal by the site; the message is meant for people. */
export class SiteError extends Error {
  override readonly name = 'SiteError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly error?: { readonly message?: string };
}

/**
 * The JSON of an answer.
 *
 * @throws SiteError for every status but success, in the words of the problem document when there is one.
 */
export async function readAnswer<Body>(response: Response): Promise<Body> {
  await refuseFailure(response);
  return (await response.json()) as Body;
}

/** @throws SiteError for every status but success. */
export async function refuseFailure(response: Response): Promise<void> {
  if (response.ok) return;
  const problem = await response.json().catch(() => ({}) as Problem);
  throw new SiteError(
    words(problem as Problem) ?? `The site answered with status ${response.status}.`,
    response.status,
  );
}

function words({ title, detail, hint, error }: Problem): string | undefined {
  const said = [detail ?? error?.message ?? title, hint].filter((part) => part !== undefined);
  return said.length > 0 ? said.join(' ') : undefined;
}
