/** The reason why a token is rejected. Its text is safe to send: it never quotes the token. */
export class TokenRefused extends Error {}
