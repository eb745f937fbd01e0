import type { Actor } from './actor.js';
import type { Scope } from './scopes.js';
import type { Config } from '../config.js';
import { forbidden } from '../errors.js';

const hasScope = (granted: readonly Scope[], scope: Scope): boolean => granted.includes(scope) || granted.includes('admin:*');

/**
 * Rejects a token without `scope`. `admin:*` satisfies every check; `x:write` does not imply `x:read`.
 * @throws PERMISSION_DENIED naming the scope
 */
export function requireScope(granted: readonly Scope[], scope: Scope): void {
  if (hasScope(granted, scope)) return;
  throw forbidden(`Token is missing the required scope: ${scope}`);
}

/** Returns whether every route enforces its scope for this caller: by a setting, or for a strict token. */
export const enforcesEveryScope = (config: Config, actor?: Actor): boolean =>
  config.PAT_SCOPE_ENFORCEMENT === 'strict' || (actor?.type === 'pat' && actor.strict);

/** Whether `requireScopeIfStrict` lets the caller pass. */
export const passesIfStrict = ({ config, actor }: { config: Config; actor: Actor }, scope: Scope): boolean =>
  actor.type !== 'pat' || !enforcesEveryScope(config, actor) || hasScope(actor.scopes, scope);

/**
 * Requires a further scope of a caller whose token is held to all scopes, where the scope depends on the request's body.
 * @throws PERMISSION_DENIED naming the scope
 */
export function requireScopeIfStrict({ config, actor }: { config: Config; actor: Actor }, scope: Scope): void {
  if (actor.type === 'pat' && enforcesEveryScope(config, actor)) requireScope(actor.scopes, scope);
}

/** Whether the caller's token has the scope; a signed-in caller needs none. */
export const hasScopeOf = ({ actor }: { actor: Actor }, scope: Scope): boolean =>
  actor.type !== 'pat' || hasScope(actor.scopes, scope);
