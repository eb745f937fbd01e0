import { isAdmitted } from '../../../../platform/access/access.js';
import { getTeam } from '../../../../identity/teams/get-team.js';
import { TeamParams } from '../../../../identity/teams/schema.js';
import { createWebhook } from '../../../../integrations/webhooks/create-webhook.js';
import { listWebhooks } from '../../../../integrations/webhooks/list-webhooks.js';
import { type FormError, page, type Page, type PageRequest, type View } from '../../../page.js';
import type { Fields } from '../../../server/read-form.js';
import { eventChoices, WebhookForm, webhooksPath } from './form.js';

async function showWebhooks(
  { ctx }: Pick<PageRequest, 'ctx'>,
  teamId: string,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const [team, webhooks] = await Promise.all([getTeam(ctx, teamId), listWebhooks(ctx, { team_id: teamId })]);
  const { problem, given } = refused;
  const writes = isAdmitted('webhook.write', ctx.actor);
  const data = { team, webhooks, writes, choices: eventChoices([], given), problem, given: given ?? {} };
  return { view: 'teams/webhooks/list', title: 'Webhooks', data };
}

export const webhookListPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/webhooks',
    access: 'webhook.read',
    params: TeamParams,
    handle: (visit) => showWebhooks(visit, visit.params.team_id),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/webhooks',
    access: 'webhook.write',
    params: TeamParams,
    form: WebhookForm,
    /** The secret is shown once, in this response: a redirect would have to store it. */
    async handle({ ctx, params: { team_id }, form }) {
      const webhook = await createWebhook(ctx, { team_id, ...form, is_active: true });
      const back = `${webhooksPath(team_id)}/${webhook.webhook_id}`;
      return { view: 'teams/webhooks/secret', title: 'Signing secret', data: { webhook, back, isNew: true } };
    },
    onError: (visit, problem) => showWebhooks(visit, visit.params.team_id, { problem, given: visit.form }),
  }),
];
