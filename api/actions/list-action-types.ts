import { z } from 'zod';
import { type Context, userOf } from '../core/context.js';
import { type Connection, connectionsOf } from '../integrations/connections.js';
import { findProvider } from '../integrations/registry.js';
import type { ActionDescription } from './action-type.js';
import { availableActions, catalogue } from './registry.js';

function schemaOf({ params, defaulted = [] }: ActionDescription): Record<string, unknown> {
  const { $schema: _dialect, required = [], ...schema } = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' });
  return { ...schema, required: required.filter((name) => !defaulted.some((other) => other === name)) };
}

/** What an action needs of the caller's connection to its service (F13). */
function availabilityOf(ctx: Context, { integration }: ActionDescription, connections: ReadonlyMap<string, Connection>) {
  if (!integration) return { integration: null, connected: true, missing_scopes: [] };
  const { provider, scopes } = integration;
  const connection = connections.get(provider);
  return {
    integration: provider,
    connected: connection !== undefined,
    missing_scopes: scopes.filter((scope) => !connection?.scopes.includes(scope)),
    // While the installation has no client there, nobody can be connected.
    ...(findProvider(provider).settings(ctx.config) ? {} : { available: false }),
  };
}

/** Every dispatchable action, and what the caller's connections add to it (F5, F13). */
export async function listActionTypes(ctx: Context) {
  const available = availableActions().map(({ type }) => type);
  const connections = await connectionsOf(ctx, userOf(ctx));
  return catalogue().map((action) => ({
    type: action.type,
    label: action.label,
    category: action.category,
    params_schema: schemaOf(action),
    available: available.includes(action.type),
    ...availabilityOf(ctx, action, connections),
  }));
}
