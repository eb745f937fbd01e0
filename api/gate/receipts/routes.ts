import { type Endpoint, endpoint, Reply } from '../../platform/endpoint/endpoint.js';
import { receiptKeys } from './keys.js';
import { PublicKeySet } from './schema.js';

/** A rotation waits twice as long before the next key signs (docs/operate/keys.md). */
const headers = { 'Cache-Control': 'public, max-age=300' };

export const receiptRoutes: Endpoint[] = [
  endpoint({
    id: 'getReceiptKeys',
    method: 'get',
    path: '/api/receipts/jwks',
    tag: 'Receipts',
    summary: 'Get the public keys of receipts',
    description:
      'Verify receipts by these keys only, fetched from the installation that you trust. May be kept for five minutes: a new key is published at least ten before it signs.',
    ability: 'public',
    response: PublicKeySet,
    handle: async ({ ctx }) => new Reply(receiptKeys(ctx.config).jwks, { headers }),
  }),
];
