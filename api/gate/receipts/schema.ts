import { z } from 'zod';

export const PublicKeySet = z
  .object({
    keys: z
      .array(
        z.object({
          kty: z.literal('OKP'),
          crv: z.literal('Ed25519'),
          x: z.string().describe('Public key, 32 bytes in base64url'),
          kid: z.string().describe('Id of the key, which a receipt names in its header'),
          alg: z.literal('EdDSA'),
          use: z.literal('sig'),
        }),
      )
      .describe('The key in use, the next one, and the previous one while its receipts may be valid'),
  })
  .meta({ id: 'PublicKeySet', description: 'Public keys as a JWK set (RFC 7517, RFC 8037)' });

export type PublicKeySet = z.output<typeof PublicKeySet>;
