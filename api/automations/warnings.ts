import type { Automation, StoredAction } from '../../db/models/automation.js';
import type { Context } from '../core/context.js';
import { connectionsOf } from '../integrations/connections.js';
import { missingSecrets } from '../secrets/vault.js';
import { outboundTypes } from './actions/registry.js';
import { secretHandles } from './actions/secret-handles.js';
import { findSecretHandles } from './template.js';

type Saved = Pick<Automation, 'team_id' | 'created_by' | 'actions'>;

const typeOf = ({ type }: StoredAction) => outboundTypes()[type];

async function ofSecrets(ctx: Context, { team_id, actions }: Saved): Promise<string[]> {
  const idle = actions.flatMap((action, index) =>
    !typeOf(action)?.secrets && findSecretHandles(action.params).length > 0
      ? [`actions[${index}]: ${action.type} sends nothing and fills in no secrets`]
      : [],
  );
  const needed = secretHandles(actions.filter((action) => typeOf(action)?.secrets));
  const missing =
    team_id === null
      ? needed.map((name) => `A personal automation has no secrets: ${name} will be missing`)
      : (await missingSecrets(ctx, team_id, needed)).map((name) => `There is no secret named ${name} yet`);
  return [...idle, ...missing];
}

/** It acts at other services with the connections of whoever created it, whoever saves it (F13). */
async function ofConnections(ctx: Context, { created_by, actions }: Saved): Promise<string[]> {
  const integrated = actions.flatMap((action, index) => {
    const integration = typeOf(action)?.integration;
    return integration ? [{ place: `actions[${index}]`, ...integration }] : [];
  });
  if (integrated.length === 0) return [];
  const connections = await connectionsOf(ctx, created_by);
  return integrated.flatMap(({ place, provider, scopes }) => {
    const granted = connections.get(provider)?.scopes;
    if (!granted) return [`${place}: the automation’s creator has not connected ${provider} yet`];
    const missing = scopes.filter((scope) => !granted.includes(scope));
    return missing.length > 0 ? [`${place}: the creator’s connection to ${provider} lacks ${missing.join(', ')}`] : [];
  });
}

/**
 * What will go wrong at the run unless something is done first. It is stored all the same: the secret may be saved, the service
 * connected later, and until then the action fails (F12, F13).
 */
export const warningsOf = async (ctx: Context, saved: Saved): Promise<string[]> => [
  ...(await ofSecrets(ctx, saved)),
  ...(await ofConnections(ctx, saved)),
];
