import { z } from 'zod';
import { type Context, requireUser } from '../../platform/context.js';
import { type Connection, findConnections } from '../../integrations/connections/connections.js';
import { findProvider } from '../../integrations/connections/registry.js';
import type { ActionDescription } from '../../gate/contract/action-type.js';
import { availableActions } from './registry.js';

/** A schema that is written out replaces the derived one. */
function applyOverride({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Record<string, unknown> }): void {
  const override = (zodSchema as unknown as z.ZodType).meta()?.['override'];
  if (typeof override !== 'object' || override === null) return;
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
  Object.assign(jsonSchema, override);
}

/** Returns the JSON Schema of an action's parameters as a caller may write them. */
export function buildParamsSchema({ params, defaulted = [] }: ActionDescription): Record<string, unknown> {
  const options = { io: 'input', unrepresentable: 'any', override: applyOverride } as const;
  const { $schema: _dialect, required = [], ...schema } = z.toJSONSchema(params, options);
  return { ...schema, required: required.filter((name) => !defaulted.some((other) => other === name)) };
}

/** Returns what an action needs of the caller's connection to its service. */
function getAvailability(ctx: Context, { integration }: ActionDescription, connections: ReadonlyMap<string, Connection>) {
  if (!integration) return { integration: null, connected: true, missing_scopes: [] };
  const { provider, scopes } = integration;
  const connection = connections.get(provider);
  return {
    integration: provider,
    connected: connection !== undefined,
    missing_scopes: scopes.filter((scope) => !connection?.scopes.includes(scope)),
    // Without an OAuth client in this installation, nobody can connect.
    ...(findProvider(provider).settings(ctx.config) ? {} : { available: false }),
  };
}

/** Lists every action type, with the state of the caller's connections. */
export async function listActionTypes(ctx: Context) {
  const connections = await findConnections(ctx, requireUser(ctx));
  return availableActions().map((action) => ({
    type: action.type,
    label: action.label,
    category: action.category,
    params_schema: buildParamsSchema(action),
    available: true,
    ...getAvailability(ctx, action, connections),
  }));
}
