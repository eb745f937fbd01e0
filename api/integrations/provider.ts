import type { Config } from '../core/config.js';
import type { OutboundAction } from '../actions/action-type.js';

/** Where a service gives out its tokens, and as whom this installation asks for them. */
export interface OAuthSettings {
  authorizeUrl: string;
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
}

/**
 * A service that people connect with an account of theirs (F13). Registering one is all that it takes: connections, routes, the
 * list of actions and the worker's activities read the registry.
 */
export interface Provider {
  key: string;
  label: string;
  /** What a connection asks for where nobody says more. */
  scopes: readonly string[];
  /** Undefined while the installation has no client there: it is listed, and cannot be connected. */
  settings: (config: Config) => OAuthSettings | undefined;
  /** The name of the account behind a token. @throws OutboundFailure | Error when the service does not say */
  account: (config: Config, token: string) => Promise<string>;
  /**
   * Takes a token back, so that it opens nothing any more; absent where the service knows no way. One that it does not know is taken
   * back already. @throws OutboundFailure | Error in words of ours: it is tried again
   */
  revoke?: (config: Config, token: string) => Promise<void>;
  actions: readonly OutboundAction[];
}
