import type { TeamData } from '../../platform/team-data.js';
import { deleteWebhooksOfTeam } from './delete-webhook.js';

export const webhookData: TeamData = {
  tables: ['webhooks'],
  onTeamDeleted: async (ctx, teamId) => ({ webhooks: await deleteWebhooksOfTeam(ctx, teamId) }),
};
