import type { Automation } from '../../db/models/automation.js';
import type { Context } from '../core/context.js';
import { missingSecrets } from '../secrets/vault.js';
import { outboundTypes } from './actions/registry.js';
import { secretHandles } from './actions/secret-handles.js';
import { findSecretHandles } from './template.js';

/**
 * What will go wrong at the run unless something is done first. It is stored all the same: the secret may be saved later, and until
 * then its action fails with `secret_missing` (F12).
 */
export async function warningsOf(ctx: Context, { team_id, actions }: Pick<Automation, 'team_id' | 'actions'>): Promise<string[]> {
  const sending = actions.filter(({ type }) => outboundTypes()[type]?.secrets);
  const idle = actions.flatMap(({ type, params }, index) =>
    !outboundTypes()[type]?.secrets && findSecretHandles(params).length > 0
      ? [`actions[${index}]: ${type} sends nothing and fills in no secrets`]
      : [],
  );
  const secrets = secretHandles(sending);
  const missing =
    team_id === null
      ? secrets.map((name) => `A personal automation has no secrets: ${name} will be missing`)
      : (await missingSecrets(ctx, team_id, secrets)).map((name) => `There is no secret named ${name} yet`);
  return [...idle, ...missing];
}
