import { z } from 'zod';

/** A message to the MCP endpoint. The server of the protocol checks it, so that its refusals have the protocol's codes. */
export const McpMessage = z.unknown().meta({
  id: 'McpMessage',
  override: {
    type: 'object',
    required: ['jsonrpc', 'method'],
    properties: {
      jsonrpc: { type: 'string', const: '2.0' },
      id: { type: ['string', 'integer'] },
      method: { type: 'string' },
      params: { type: 'object' },
    },
  },
});

export const McpAnswer = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).nullable(),
    result: z.looseObject({}).optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
  })
  .meta({ id: 'McpAnswer', description: 'An answer of JSON-RPC, also as an event stream for older versions of the protocol' });
