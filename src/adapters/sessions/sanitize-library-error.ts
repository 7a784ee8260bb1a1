/**
 * What a failed session library call becomes: its name and code.
 * The library's own error stays behind, because it may hold tokens and the provider's answer.
 */
export function sanitizeLibraryError(library: string, error: unknown): Error {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  const words = [name, code].filter((word) => typeof word === 'string' && /^[\w.-]{1,64}$/.test(word));
  return new Error(
    [`${library} could not give the token:`, ...(words.length > 0 ? words : ['unknown error'])].join(' '),
  );
}
