import type { Config } from '../../platform/config.js';
import type { OutboundAction } from '../../gate/contract/action-type.js';

/** OAuth endpoints of a service, and this installation's client there. */
export interface OAuthSettings {
  authorizeUrl: string;
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
}

/**
 * A service that users connect with their own accounts. Registering one is enough: connections, routes, the list of actions and
 * the worker's activities read the registry.
 */
export interface Provider {
  key: string;
  label: string;
  /** Scopes requested by default. */
  scopes: readonly string[];
  /** Undefined while the installation has no OAuth client there: the service is listed but cannot be connected. */
  settings: (config: Config) => OAuthSettings | undefined;
  /**
   * Returns the account name of a token.
   * @throws OutboundFailure | Error if the service does not return it
   */
  account: (config: Config, token: string) => Promise<string>;
  /**
   * Revokes a token; absent if the service does not support it. Succeeds for an unknown token, which counts as revoked.
   * @throws OutboundFailure | Error with our own message: it is retried
   */
  revoke?: (config: Config, token: string) => Promise<void>;
  actions: readonly OutboundAction[];
}
