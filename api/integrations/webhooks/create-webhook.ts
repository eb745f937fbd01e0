import { Team } from '../../../db/models/team.js';
import { Webhook } from '../../../db/models/webhook.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { seatInTeam, findSeat } from '../../platform/access/seats.js';
import { checkWebhookUrl } from './policy.js';
import { toRecord } from './read-webhook.js';
import { recordWebhookChange } from './record-webhook-change.js';
import type { CreateWebhook, WebhookWithSecret } from './schema.js';
import { newWebhookSecret, prefixOfSecret, sealWebhookSecret } from './secret.js';

const MAX_WEBHOOKS_PER_TEAM = 20;

/**
 * Creates an endpoint. The signing secret is only in this response.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin | VALIDATION_ERROR an address that is not public |
 * INVALID_REQUEST 20 endpoints already
 */
export async function createWebhook(ctx: Context, input: CreateWebhook): Promise<WebhookWithSecret> {
  const { team_id, url, events, format, is_active } = input;
  // Before the look-up of the host: strangers resolve nothing here.
  authorize('webhook.write', await seatInTeam(ctx, team_id));
  await checkWebhookUrl(ctx.config, url);
  const secret = newWebhookSecret();
  return inTransaction(ctx, async (ctx) => {
    // Creations in a team happen one after the other, so the limit holds.
    const team = await Team.query(ctx.db).findById(team_id).modify('live').forNoKeyUpdate();
    if (!team) throw notFound('Team');
    authorize('webhook.write', await findSeat(ctx, team_id));
    if ((await Webhook.query(ctx.db).where({ team_id }).resultSize()) >= MAX_WEBHOOKS_PER_TEAM) {
      throw invalid(`A team has at most ${MAX_WEBHOOKS_PER_TEAM} webhooks; delete one first`);
    }
    const webhook_id = newId();
    await Webhook.query(ctx.db).insert({
      webhook_id,
      team_id,
      url,
      events,
      description: input.description || null,
      format,
      is_active,
      ...sealWebhookSecret(ctx.config, webhook_id, secret),
      secret_prefix: prefixOfSecret(secret),
      created_by: requireUser(ctx),
    });
    await recordWebhookChange(ctx, { team_id, webhook_id, url }, 'create', { events, format, is_active });
    return { ...(await toRecord(ctx, webhook_id)), secret };
  });
}
