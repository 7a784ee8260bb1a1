import * as openId from 'openid-client';

export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The API the user's access token is for. */
  readonly audience: string;
}

export interface SignedInUser {
  /** Issuer and subject: the user's one stable name. */
  readonly id: string;
  readonly name: string;
  /** Path of a picture. */
  readonly picture: string;
}

export interface UserTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Some seconds before the provider's own date, so that the token lasts for its way; milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What the site remembers between sending a visitor to the provider and seeing them again. */
export interface PendingSignIn {
  readonly codeVerifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** A provider need not say how long a token lives. */
const SECONDS_UNLESS_SAID = 60;
const EARLY_SECONDS = 5;

/** The site as its OpenID provider knows it: authorization code with PKCE, and refreshes. */
export class OpenIdClient {
  readonly #settings: OpenIdSettings;
  #found: Promise<openId.Configuration> | undefined;

  constructor(settings: OpenIdSettings) {
    this.#settings = settings;
  }

  /** Where to send the visitor. `loginHint` names the user when the page knows already who it is. */
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
      // Two people share this browser: the provider is to ask each time which of them it is.
      prompt: 'login',
      code_challenge: await openId.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    });
    return { url, pending };
  }

  /** Who came back to `callbackUrl`, and with which tokens. Rejects unless it is the answer to `pending`. */
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

  /** New tokens. With most providers the refresh token is spent then, and the answer holds the next one. */
  async refresh(refreshToken: string): Promise<UserTokens> {
    const { audience } = this.#settings;
    const answer = await openId.refreshTokenGrant(await this.#configuration(), refreshToken, { resource: audience });
    return tokensOf(answer, refreshToken);
  }

  /** Asked for when it is first needed: a site starts before its provider does. A failure is not remembered. */
  #configuration(): Promise<openId.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    this.#found ??= openId
      .discovery(new URL(issuer), clientId, clientSecret, undefined, {
        // The provider of the demo has no certificate; a real one has.
        execute: issuer.startsWith('http://127.0.0.1:') ? [openId.allowInsecureRequests] : [],
      })
      .catch((error: unknown) => {
        this.#found = undefined;
        throw error;
      });
    return this.#found;
  }
}

/** True when the provider will not refresh any more, and false when it only could not answer. */
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
