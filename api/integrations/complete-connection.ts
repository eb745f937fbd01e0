import { run, type Statement } from '../../db/statement.js';
import { type Context, inTransaction } from '../core/context.js';
import { invalid } from '../core/errors.js';
import { OutboundFailure } from '../core/http-client/failure.js';
import { decryptField } from '../core/crypto/encryption.js';
import { redirectUri, stateHash } from './connect.js';
import { saveConnection } from './connections.js';
import type { Provider } from './provider.js';
import { recordConnection } from './record-connection.js';
import { findProvider } from './registry.js';
import { GrantRefused, requestTokens } from './request-tokens.js';
import type { Callback } from './schema.js';

interface Begun extends Record<string, unknown> {
  user_id: string;
  email: string;
  role: 'user' | 'admin';
  display_name: string;
  sealed_verifier: Buffer;
}

/** $1 hash of the state, $2 service, $3 who sits at the browser. A state is good once, and only while the person may sign in. */
const claimStatement: Statement = {
  name: 'take_integration_request',
  text: /* sql */ `
    delete from integration_requests r using users u
    where r.state_hash = $1 and r.provider = $2 and r.user_id = $3 and r.expires_at > now() and u.user_id = r.user_id and u.status = 'active'
    returning r.user_id, r.sealed_verifier, u.email, u.role, u.display_name`,
};

/** What the page says. */
export interface Completion {
  label: string;
  /** Null where the person said no at the service. */
  account: string | null;
  person: string;
}

const unknownState = () => invalid('This link to connect is unknown, was used, or is older than ten minutes: begin again');

/** @throws INVALID_REQUEST in our own words: the service's may hold the code */
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
    if (thrown instanceof GrantRefused) throw invalid(`${provider.label} did not accept the connection: begin again`);
    if (thrown instanceof OutboundFailure) throw invalid(`${provider.label} cannot be reached at the moment: begin again`);
    throw thrown;
  }
}

/**
 * Ends what `connect` began, when the person comes back from the service. `sitting`: who is signed in at the browser that comes. It
 * must be who began: else one could send others to the service, and act there with their accounts.
 * @throws RESOURCE_NOT_FOUND no such service | INVALID_REQUEST the state, or the service does not take the code
 * Source: decision F13.
 */
export async function completeConnection(
  ctx: Context,
  key: string,
  { code, state, error }: Callback,
  sitting: string | null,
): Promise<Completion> {
  const provider = findProvider(key);
  if (!state) throw unknownState();
  if (sitting === null) throw invalid('Sign in to Assent in this browser first, and load this page again');
  const [begun] = await run<Begun>(ctx.db, claimStatement, [stateHash(state), key, sitting]);
  if (!begun) throw unknownState();
  const { user_id: userId, email, role, display_name: person } = begun;
  if (error !== undefined || !code) return { label: provider.label, account: null, person };
  const kept = JSON.parse(decryptField(ctx.config, 'vault', `${userId}/${key}`, begun.sealed_verifier)) as {
    verifier: string;
    scopes: string[];
  };
  const { grant, account } = await askService(ctx, provider, code, kept.verifier);
  const scopes = grant.scopes ?? kept.scopes;
  const actor = { type: 'user', userId, email, role, sessionId: '', impersonatorId: null } as const;
  await inTransaction({ ...ctx, actor }, async (ctx) => {
    await saveConnection(ctx, { userId, provider: key, account, scopes }, grant);
    await recordConnection(ctx, key, 'create', { account, scopes });
  });
  return { label: provider.label, account, person };
}
