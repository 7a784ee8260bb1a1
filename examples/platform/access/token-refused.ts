/** Why a token is not accepted. Its text is safe to send: it never quotes the token. */
export class TokenRefused extends Error {}
