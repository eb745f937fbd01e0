import { z } from 'zod';
import { isAdmitted } from '../../../../platform/access/access.js';
import { Id } from '../../../../platform/fields.js';
import { getTeam } from '../../../../identity/teams/get-team.js';
import { deleteWebhook } from '../../../../integrations/webhooks/delete-webhook.js';
import { listDeliveries } from '../../../../integrations/webhooks/history/list-deliveries.js';
import { replay } from '../../../../integrations/webhooks/history/replay.js';
import { sendTest } from '../../../../integrations/webhooks/history/send-test.js';
import { rotateSecret } from '../../../../integrations/webhooks/rotate-secret.js';
import { timeOfId } from '../../../../integrations/webhooks/rules.js';
import { updateWebhook } from '../../../../integrations/webhooks/update-webhook.js';
import { type FormError, page, type Page, type PageRequest, type PageResult, type View } from '../../../page.js';
import type { Fields } from '../../../server/read-form.js';
import { eventChoices, WebhookForm, loadWebhook, webhooksPath } from './form.js';

const PAGE_SIZE = 25;
const STATES = ['pending', 'failed', 'succeeded'] as const;

/** A filter that holds nonsense does not count. */
const Filter = z.object({
  status: z.enum(STATES).optional().catch(undefined),
  before: z.uuid().optional().catch(undefined),
  live: z.unknown().optional(),
});
type Filter = z.output<typeof Filter>;

export const WebhookPath = z.object({ team_id: Id, webhook_id: Id });
type WebhookPath = z.output<typeof WebhookPath>;

export const webhookPath = ({ team_id, webhook_id }: WebhookPath): string => `${webhooksPath(team_id)}/${webhook_id}`;

function buildAddress(params: WebhookPath, { status, before }: Filter): string {
  const given = Object.entries({ status, before }).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? webhookPath(params) : `${webhookPath(params)}?${new URLSearchParams(given).toString()}`;
}

/** Returns the shown page of deliveries with the moments of their events. */
async function loadDeliveries(ctx: PageRequest['ctx'], params: WebhookPath, filter: Filter) {
  const found = await listDeliveries(ctx, params.webhook_id, { ...filter, limit: PAGE_SIZE + 1 });
  const deliveries = found.slice(0, PAGE_SIZE).map((delivery) => ({ ...delivery, at: timeOfId(delivery.event_id) }));
  const last = found.length > PAGE_SIZE ? deliveries.at(-1) : undefined;
  return {
    deliveries,
    address: buildAddress(params, filter),
    first: filter.before && buildAddress(params, { ...filter, before: undefined }),
    next: last && buildAddress(params, { ...filter, before: last.event_id }),
  };
}

async function showWebhook(
  visit: Pick<PageRequest, 'ctx'>,
  params: WebhookPath,
  filter: Filter = {},
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const { ctx } = visit;
  const webhook = await loadWebhook(visit, params);
  const [team, list] = await Promise.all([getTeam(ctx, params.team_id), loadDeliveries(ctx, params, filter)]);
  const { host } = new URL(webhook.url);
  const { problem, given } = refused;
  const choices = eventChoices(webhook.events, given);
  const states = STATES.map((status) => ({ status, address: buildAddress(params, { status }) }));
  const base = webhookPath(params);
  const writes = isAdmitted('webhook.write', ctx.actor);
  const data = {
    team,
    webhook,
    host,
    base,
    writes,
    ...list,
    status: filter.status,
    states,
    choices,
    problem,
    given: given ?? {},
  };
  return { view: 'teams/webhooks/webhook', title: host, data };
}

/** Redirects to the endpoint's page with a line of success. */
const done = (params: WebhookPath, text: string): PageResult => ({ to: webhookPath(params), notice: { kind: 'good', text } });

/** A button on the page of an endpoint: an operation, and the line that it leaves. */
function button<Form extends z.ZodType>(
  name: string,
  form: Form,
  act: (visit: PageRequest<WebhookPath, unknown, z.output<Form>>) => Promise<PageResult>,
): Page {
  return page({
    method: 'post',
    path: `/app/teams/:team_id/webhooks/:webhook_id/${name}`,
    access: 'webhook.write',
    params: WebhookPath,
    form,
    async handle(visit) {
      await loadWebhook(visit, visit.params);
      return act(visit);
    },
    onError: ({ params }, { message }) => Promise.resolve({ to: webhookPath(params), notice: { kind: 'bad', text: message } }),
  });
}

const Nothing = z.object({});
const Toggle = z.object({ is_active: z.enum(['true', 'false']).transform((text) => text === 'true') });
const HOUR_MS = 3_600_000;
/** Hours before now, of at most the 30 days that deliveries are kept. */
const Range = z.object({ hours: z.coerce.number().int().min(1).max(720) });

const counted = (count: number): string => `${count} ${count === 1 ? 'delivery' : 'deliveries'}`;

export const webhookPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/webhooks/:webhook_id',
    access: 'webhook.read',
    params: WebhookPath,
    query: Filter,
    handle: (visit) => showWebhook(visit, visit.params, visit.query),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/webhooks/:webhook_id',
    access: 'webhook.write',
    params: WebhookPath,
    form: WebhookForm,
    async handle(visit) {
      const { webhook_id } = await loadWebhook(visit, visit.params);
      await updateWebhook(visit.ctx, webhook_id, { ...visit.form, description: visit.form.description ?? null });
      return done(visit.params, 'Saved.');
    },
    onError: (visit, problem) => showWebhook(visit, visit.params, {}, { problem, given: visit.form }),
  }),
  button('toggle', Toggle, async ({ ctx, params, form }) => {
    await updateWebhook(ctx, params.webhook_id, form);
    return done(params, form.is_active ? 'The webhook is enabled.' : 'The webhook is disabled. Pending deliveries wait.');
  }),
  button('test', Nothing, async ({ ctx, params }) => {
    await sendTest(ctx, params.webhook_id);
    return done(params, 'The test is on its way. Its delivery is listed below.');
  }),
  button('replay', Range, async ({ ctx, params, form }) => {
    const now = Date.now();
    const range = { from: new Date(now - form.hours * HOUR_MS).toISOString(), to: new Date(now).toISOString() };
    const { queued } = await replay(ctx, params.webhook_id, { ...range, status: 'failed' });
    return done(params, queued === 0 ? 'Nothing failed in that time.' : `${counted(queued)} will be sent again.`);
  }),
  button('delete', Nothing, async ({ ctx, params }) => {
    await deleteWebhook(ctx, params.webhook_id);
    return { to: webhooksPath(params.team_id), notice: { kind: 'good', text: 'The webhook was deleted.' } };
  }),
  // The new secret is shown once, in this response.
  button('rotate', Nothing, async ({ ctx, params }) => {
    const webhook = await rotateSecret(ctx, params.webhook_id);
    const data = { webhook, back: webhookPath(params), isNew: false };
    return { view: 'teams/webhooks/secret', title: 'Signing secret', data };
  }),
];
