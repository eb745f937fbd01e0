import { z } from 'zod';

export const IntegrationParams = z.object({ key: z.string() });

/** RFC 6749, section 3.3, with a practical length limit. */
const Scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, 'must be an OAuth scope');
export const Connect = z
  .object({ scopes: z.array(Scope).max(50).nullish().meta({ description: 'Default: the scopes its actions need' }) })
  .meta({ id: 'ConnectIntegration' });
export type Connect = z.output<typeof Connect>;

// Three of them, escaped, must fit into Node's limit for request headers: 16 kB.
const one = z.string().max(1_000).optional();
/** Query of the OAuth redirect; other parameters are ignored. */
export const Callback = z.object({ code: one, state: one, error: one });
export type Callback = z.output<typeof Callback>;

export const Integration = z
  .object({
    key: z.string(),
    label: z.string(),
    connected: z.boolean(),
    available: z.boolean().meta({ description: 'false if no OAuth client is configured for the service' }),
    scopes_granted: z.array(z.string()),
    account: z.string().nullable(),
  })
  .meta({ id: 'Integration' });
export type Integration = z.output<typeof Integration>;

export const AuthorizeAddress = z.object({ authorize_url: z.string() }).meta({ id: 'AuthorizeAddress' });
export const Disconnected = z.object({ success: z.literal(true), key: z.string() }).meta({ id: 'IntegrationDisconnected' });
