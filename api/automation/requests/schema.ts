import { z } from 'zod';
import { NEW_REQUEST, OPERATIONS } from '../../gate/requests/schema.js';
import { Text } from '../../platform/fields.js';
import { HEADER_NAME, METHODS } from '../../platform/http-client/send-request.js';
import { WebAddress } from '../actions/web-address.js';

const MAX_HEADERS = 50;

/** A request that Assent sends itself after the yes. */
const HttpCall = z
  .object({
    method: z.enum(METHODS),
    url: WebAddress.meta({ description: 'Its host is literal; the rest may hold `{{secret:NAME}}`' }),
    headers: z
      .record(z.string().regex(HEADER_NAME), Text.max(8_192))
      .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `has more than ${MAX_HEADERS} members`)
      .optional(),
    body: z
      .unknown()
      .optional()
      .meta({ override: { description: 'Text is sent unchanged, any other JSON as JSON' } }),
    summary: Text.max(500).optional(),
    risk: z.enum(['low', 'medium', 'high']).optional(),
    reversible: z.boolean().optional(),
  })
  .meta({ id: 'HttpCall' });
export type HttpCall = z.output<typeof HttpCall>;

export const CreateRequest = z
  .object({
    ...NEW_REQUEST,
    ...OPERATIONS,
    http: HttpCall.optional().meta({ description: 'Assent sends this itself after the yes, once, with secrets of the vault' }),
  })
  .refine(({ operation, operations, http }) => [operation, operations, http].filter((each) => each !== undefined).length === 1, {
    path: ['operations'],
    message: 'give one of operation, operations and http',
  })
  .meta({ id: 'CreateRequest' });
export type CreateRequest = z.output<typeof CreateRequest>;

export const RequestResult = z
  .object({
    status: z.enum(['succeeded', 'failed', 'unknown']).nullable().meta({ description: 'Null until it is known' }),
    result: z.string().nullable().meta({ description: 'What the other server answered, without secrets; kept for 7 days' }),
    is_cut: z.boolean().meta({ description: 'The answer was longer than 64 kB' }),
  })
  .meta({ id: 'RequestResult' });
export type RequestResult = z.output<typeof RequestResult>;
