import { z } from 'zod';

const seconds = z
  .string()
  .default('0,5,300,1800,7200,18000,36000,36000')
  .transform((list) => list.split(',').map(Number))
  .refine(
    (steps) => steps.length <= 20 && steps.every((step) => step >= 0 && step <= 86_400),
    'must be at most 20 numbers of seconds separated by commas',
  );

/** Settings of outbound webhooks that receivers rely on. */
export const webhookSettings = {
  WEBHOOK_RETRY_SECONDS: seconds.describe('Wait before each attempt of a delivery, in seconds'),
  WEBHOOK_TIMEOUT_SECONDS: z.coerce.number().min(0.1).max(60).default(15).describe('Time for one attempt of a delivery'),
  WEBHOOK_DISABLE_SECONDS: z.coerce
    .number()
    .min(1)
    .default(432_000)
    .describe('An endpoint whose attempts all fail for this time is disabled'),
};

/** Limits that receivers rely on. */
export const WEBHOOK_LIMITS = ['WEBHOOK_RETRY_SECONDS', 'WEBHOOK_TIMEOUT_SECONDS', 'WEBHOOK_DISABLE_SECONDS'] as const;
