import { TRIGGERS } from '../../automations/language/triggers.js';
import { buildEvent } from './body.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from './names.js';

const TIME = '2026-11-20T17:51:02.123Z';
const EVENT = '0197a000-1000-7000-8000-000000000001';
const TEAM = '0197a000-0000-7000-8000-000000000003';
const RUN = '0197a000-0000-7000-8000-000000000010';

const run = (object: Record<string, unknown>) => ({
  actor_id: null,
  entity_type: 'automation_run',
  entity_id: RUN,
  changes: {},
  object: {
    run_id: RUN,
    automation_id: '0197a000-0000-7000-8000-000000000011',
    automation_name: 'Ask before a release',
    ...object,
  },
});
const gate = { gate_index: 0, required_role: 'manager', expires_at: '2026-11-23T17:51:02.123Z' };
const webhook = {
  webhook_id: '0197a000-0000-7000-8000-000000000012',
  team_id: TEAM,
  host: 'hooks.example.com',
  description: 'Chat of the team',
};

/** Payloads of events that no automation can be triggered by. */
const PAYLOADS: Partial<Record<WebhookEvent, Record<string, unknown>>> = {
  'bulk.job_finished': {
    actor_id: '0197a000-0000-7000-8000-000000000005',
    job: {
      job_id: '0197a000-0000-7000-8000-000000000013',
      team_id: TEAM,
      kind: 'import',
      status: 'succeeded',
      error_code: null,
      processed: 1_200,
      created: 1_150,
      updated: 40,
      skipped: 8,
      failed: 2,
    },
  },
  'automation.run_failed': run({ error: { code: 'http_status', message: 'The receiver returned 500' } }),
  'automation.run_paused': run({ gate_index: 0 }),
  'approval.requested': run({
    ...gate,
    message: 'Close “Sign-in fails on Safari”?',
    required_approvals: 1,
    url: `https://assent.example.com/app/approvals/gate/${RUN}`,
  }),
  'approval.decided': { ...run({ decision: 'approved', gate_index: 0 }), actor_id: '0197a000-0000-7000-8000-000000000005' },
  'approval.expired': run(gate),
  'webhook.disabled': { actor_id: null, webhook: { ...webhook, disabled_reason: 'failing' } },
  'webhook.test': {
    actor_id: '0197a000-0000-7000-8000-000000000005',
    webhook: { webhook_id: webhook.webhook_id, message: 'This is a test. Nothing has changed.' },
  },
};

/** Returns an example of the body that an endpoint receives. */
export function sampleOf(name: WebhookEvent): Record<string, unknown> {
  const payload = PAYLOADS[name] ?? TRIGGERS.find(({ key }) => key === name)?.sample_payload ?? {};
  const project_id = (payload['project_id'] as string | null | undefined) ?? null;
  const change = { subject: name, event_id: EVENT, team_id: TEAM, project_id, created_at: TIME, payload };
  return JSON.parse(buildEvent(change, name).body) as Record<string, unknown>;
}

/** Every event with its description, `webhook.test` last. */
export const DELIVERED_EVENTS: readonly [WebhookEvent, string][] = [
  ...(Object.entries(WEBHOOK_EVENTS) as [WebhookEvent, string][]),
  ['webhook.test', 'Someone tests the endpoint'],
];
