import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { OutboundFailure } from '../../platform/http-client/failure.js';
import { decryptField } from '../../platform/crypto/encryption.js';
import { redirectUri, stateHash } from './connect.js';
import { saveConnection } from './connections.js';
import type { Provider } from './provider.js';
import { recordConnection } from './record-connection.js';
import { findProvider } from './registry.js';
import { GrantRefused, requestTokens } from './request-tokens.js';
import type { Callback } from './schema.js';
import type { InstanceRole } from '../../platform/access/actor.js';

interface PendingConnection extends Record<string, unknown> {
  user_id: string;
  email: string;
  role: InstanceRole;
  display_name: string;
  sealed_verifier: Buffer;
}

/**
 * $1 = hash of the state, $2 = provider, $3 = id of the signed-in user. A state works once, and only while the user may sign in.
 */
const claimStatement = defineStatement({
  name: 'take_integration_request',
  text: /* sql */ `
    delete from integration_requests r using users u
    where r.state_hash = $1 and r.provider = $2 and r.user_id = $3 and r.expires_at > now() and u.user_id = r.user_id and u.status = 'active'
    returning r.user_id, r.sealed_verifier, u.email, u.role, u.display_name`,
});

/** Content of the page. */
export interface Completion {
  label: string;
  /** Null if the user declined at the service. */
  account: string | null;
  person: string;
}

const unknownState = () => invalid('Connection link unknown, used or expired: start again');

/** @throws INVALID_REQUEST with our own message: the service's may contain the code */
async function askService(ctx: Context, provider: Provider, code: string, verifier: string) {
  const settings = provider.settings(ctx.config);
  if (!settings) throw unknownState();
  try {
    const grant = await requestTokens(settings, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(ctx, provider.key),
      code_verifier: verifier,
    });
    return { grant, account: await provider.account(ctx.config, grant.tokens.access_token) };
  } catch (thrown) {
    if (thrown instanceof GrantRefused) throw invalid(`${provider.label} rejected the connection: start again`);
    if (thrown instanceof OutboundFailure) throw invalid(`${provider.label} is unavailable: start again`);
    throw thrown;
  }
}

/**
 * Completes a connection when the user returns from the service. `signedInId` is the user signed in to this browser, who must be
 * the one who started: otherwise an attacker could make others connect their accounts to the attacker's user
 * (docs/decisions/integrations.md#oauth-state).
 * @throws RESOURCE_NOT_FOUND no such service | INVALID_REQUEST the state, or the service rejects the code
 */
export async function completeConnection(
  ctx: Context,
  key: string,
  { code, state, error }: Callback,
  signedInId: string | null,
): Promise<Completion> {
  const provider = findProvider(key);
  if (!state) throw unknownState();
  if (signedInId === null) throw invalid('Sign in to Assent in this browser first, then reload this page');
  const [pending] = await run<PendingConnection>(ctx.db, claimStatement, [stateHash(state), key, signedInId]);
  if (!pending) throw unknownState();
  const { user_id: userId, email, role, display_name: person } = pending;
  if (error !== undefined || !code) return { label: provider.label, account: null, person };
  const stored = JSON.parse(decryptField(ctx.config, 'vault', `${userId}/${key}`, pending.sealed_verifier)) as {
    verifier: string;
    scopes: string[];
  };
  const { grant, account } = await askService(ctx, provider, code, stored.verifier);
  const scopes = grant.scopes ?? stored.scopes;
  const actor = { type: 'user', userId, email, role, sessionId: '', impersonatorId: null } as const;
  await inTransaction({ ...ctx, actor }, async (ctx) => {
    await saveConnection(ctx, { userId, provider: key, account, scopes }, grant);
    await recordConnection(ctx, key, 'create', { account, scopes });
  });
  return { label: provider.label, account, person };
}
