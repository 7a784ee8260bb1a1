/** The signed-in user, for the avatar beside their messages. */
export interface ChatUser {
  readonly name: string;
  /** Address of an image. */
  readonly picture: string;
}

export interface A2AChatProps {
  /** The site's chat route. Default `/api/a2a`. */
  readonly a2aEndpoint?: string;
  /** The site's configuration route. Default `/api/a2a/config`. */
  readonly configEndpoint?: string;
  /** The site's proxy for conversation records, such as `/api/service`. Without it, the chat has no history. */
  readonly serviceBaseUrl?: string;
  /** Default: the agent's name. */
  readonly panelTitle?: string;
  /** Messages to begin with, one click each. */
  readonly suggestedPrompts?: readonly string[];
  readonly user?: ChatUser;
}
