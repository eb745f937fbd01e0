import { newId } from '../../api/core/ids.js';
import { newWebhookSecret, sealWebhookSecret } from '../../api/webhooks/secret.js';
import type { TestApp } from '../support/app.js';
import type { TestTeam } from './people.js';

export interface TestWebhook {
  webhook_id: string;
  team_id: string;
  url: string;
  secret: string;
}

/** An active endpoint of a team, with its secret. */
export async function buildWebhook(
  app: TestApp,
  team: TestTeam,
  url: string,
  { events = ['*'], ...fields }: { events?: string[] } & Record<string, unknown> = {},
): Promise<TestWebhook> {
  const webhook_id = newId();
  const secret = newWebhookSecret();
  await app.services.db('webhooks').insert({
    webhook_id,
    team_id: team.team_id,
    url,
    events,
    ...sealWebhookSecret(app.services.config, webhook_id, secret),
    secret_prefix: secret.slice(0, 10),
    created_by: team.admin.user_id,
    ...fields,
  });
  return { webhook_id, team_id: team.team_id, url, secret };
}
