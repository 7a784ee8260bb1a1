import * as openId from 'openid-client';

export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The API the user's access token is for. */
  readonly audience: string;
}

export interface SignedInUser {
  /** Issuer and subject, which together identify the user permanently. */
  readonly id: string;
  readonly name: string;
  /** Path of a picture. */
  readonly picture: string;
}

export interface UserTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** A few seconds before the provider's own expiry, to cover the time of a request; milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The state kept between redirecting a visitor to the provider and their return. */
export interface PendingSignIn {
  readonly codeVerifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** Used if the provider does not state the lifetime of a token. */
const SECONDS_UNLESS_SAID = 60;
const EARLY_SECONDS = 5;

/** The site as a client of its OpenID provider: authorization code with PKCE, and refreshes. */
export class OpenIdClient {
  readonly #settings: OpenIdSettings;
  #found: Promise<openId.Configuration> | undefined;

  constructor(settings: OpenIdSettings) {
    this.#settings = settings;
  }

  /** The address for redirecting the visitor. `loginHint` is the user's name if the page already knows it. */
  async begin(redirectUri: string, loginHint: string | undefined): Promise<{ url: URL; pending: PendingSignIn }> {
    const pending = {
      codeVerifier: openId.randomPKCECodeVerifier(),
      state: openId.randomState(),
      nonce: openId.randomNonce(),
    };
    const url = openId.buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: redirectUri,
      scope: 'openid profile offline_access',
      resource: this.#settings.audience,
      // Two people share this browser, so the provider must always ask.
      prompt: 'login',
      code_challenge: await openId.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    });
    return { url, pending };
  }

  /** The user who returned to `callbackUrl`, with their tokens. Rejects unless the callback belongs to `pending`. */
  async finish(callbackUrl: URL, pending: PendingSignIn): Promise<{ user: SignedInUser; tokens: UserTokens }> {
    const answer = await openId.authorizationCodeGrant(
      await this.#configuration(),
      callbackUrl,
      { pkceCodeVerifier: pending.codeVerifier, expectedState: pending.state, expectedNonce: pending.nonce },
      { resource: this.#settings.audience },
    );
    const claims = answer.claims();
    if (claims === undefined) throw new Error('The provider did not say who the user is.');
    const { iss, sub, name } = claims;
    const user = {
      id: `${iss}|${sub}`,
      name: typeof name === 'string' ? name : sub,
      picture: `/people/${encodeURIComponent(sub)}.svg`,
    };
    return { user, tokens: tokensOf(answer) };
  }

  /** New tokens. Most providers invalidate the refresh token, and the response has the next one. */
  async refresh(refreshToken: string): Promise<UserTokens> {
    const { audience } = this.#settings;
    const answer = await openId.refreshTokenGrant(await this.#configuration(), refreshToken, { resource: audience });
    return tokensOf(answer, refreshToken);
  }

  /** Requested on first use, since a site starts before its provider. Failures are not cached. */
  #configuration(): Promise<openId.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    this.#found ??= openId
      .discovery(new URL(issuer), clientId, clientSecret, undefined, {
        // The demo's provider has no certificate; a real one does.
        execute: issuer.startsWith('http://127.0.0.1:') ? [openId.allowInsecureRequests] : [],
      })
      .catch((error: unknown) => {
        this.#found = undefined;
        throw error;
      });
    return this.#found;
  }
}

/** True if the provider rejects further refreshes, and false if it was only unreachable. */
export function isEnded(error: unknown): boolean {
  return error instanceof openId.ResponseBodyError && error.error === 'invalid_grant';
}

function tokensOf(
  answer: openId.TokenEndpointResponse & openId.TokenEndpointResponseHelpers,
  earlierRefreshToken = '',
): UserTokens {
  const { access_token: accessToken, refresh_token: refreshToken = earlierRefreshToken } = answer;
  const usableSeconds = (answer.expiresIn() ?? SECONDS_UNLESS_SAID) - EARLY_SECONDS;
  return { accessToken, refreshToken, expiresAt: Date.now() + usableSeconds * 1_000 };
}
