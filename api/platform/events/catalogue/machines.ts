import { z } from 'zod';
import { stored } from '../declare.js';
import { BulkJob, changed, Changes, PERSON, Plan, RunnerJob, TASK, TEAM, Webhook } from './records.js';

const text = z.string();
const time = z.string().meta({ format: 'date-time' });

const run = { run_id: text, automation_id: text, automation_name: text };
/** The payload of an event about a run; `object`: what a receiver can rely on. */
const aboutRun = (object: z.ZodRawShape = {}) => ({
  entity_type: z.literal('automation_run'),
  entity_id: text,
  changes: Changes,
  object: z.looseObject({ ...run, ...object }),
});

const RUN = '0197a000-0000-7000-8000-000000000010';
const runSample = (object: object) => ({
  project_id: null,
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
const GATE = { gate_index: 0, required_role: 'manager', expires_at: '2026-11-23T17:51:02.123Z' };
const PLAN = {
  action_id: '0197a000-0000-7000-8000-000000000008',
  session_id: '0197a000-0000-7000-8000-000000000009',
  source: 'overnight_triage',
  risk: 'low',
  status: 'staged',
  summary: '2 comments',
  team_id: TEAM,
  project_id: TASK.project_id,
  actions: 2,
};
const JOB = {
  job_id: '0197a000-0000-7000-8000-000000000011',
  team_id: TEAM,
  runner_id: '0197a000-0000-7000-8000-000000000012',
  runner_name: 'build-1',
  run_id: null,
  status: 'failed',
  labels: ['linux'],
  exit_code: 2,
  error: null,
};
const IMPORT = {
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
};
const ENDPOINT = {
  webhook_id: '0197a000-0000-7000-8000-000000000012',
  team_id: TEAM,
  host: 'hooks.example.com',
  description: 'Chat of the team',
  disabled_reason: 'failing',
};

/** Events of runs, gates, plans, jobs and endpoints. */
export const machineEvents = {
  'runner.job_finished': stored({
    payload: { job: RunnerJob, changes: Changes },
    trigger: 'A runner’s job ends, however it ends',
    past: 'A job of a runner ended',
    webhook: 'A job of a runner ended, however it ended',
    sample: { project_id: null, actor_id: null, job: JOB, ...changed('status', 'running', 'failed') },
  }),
  'bulk.job_finished': stored({
    payload: { job: BulkJob },
    past: 'An export or import ended, however it ended',
    webhook: true,
    sample: { project_id: null, job: IMPORT },
  }),
  'automation.run_failed': stored({
    payload: aboutRun(),
    past: 'A run of an automation failed',
    webhook: true,
    sample: runSample({ error: { code: 'http_status', message: 'The receiver returned 500' } }),
  }),
  'automation.run_paused': stored({
    payload: aboutRun(),
    past: 'A run of an automation waits for an approval',
    webhook: true,
    sample: runSample({ gate_index: 0 }),
  }),
  'approval.requested': stored({
    payload: aboutRun({
      gate_index: z.int(),
      message: z.string().nullable().meta({ description: 'What the gate asks' }),
      required_role: text.meta({ description: 'Role from which on members may decide' }),
      required_approvals: z.int(),
      expires_at: time,
      url: z.url().meta({ description: 'Page of the run, for a button. It asks to sign in: the link itself grants nothing' }),
    }),
    past: 'A run asks for an approval',
    webhook: true,
    sample: runSample({
      ...GATE,
      message: 'Close “Sign-in fails on Safari”?',
      required_approvals: 1,
      url: `https://assent.example.com/app/approvals/gate/${RUN}`,
    }),
  }),
  'approval.decided': stored({
    payload: aboutRun({ gate_index: z.int(), decision: z.enum(['approved', 'rejected']) }),
    past: 'An approval was given or refused',
    webhook: true,
    sample: { ...runSample({ decision: 'approved', gate_index: 0 }), actor_id: PERSON },
  }),
  'approval.expired': stored({
    payload: aboutRun({ gate_index: z.int(), required_role: text, expires_at: time }),
    past: 'Nobody decided about an approval in time',
    webhook: true,
    sample: runSample(GATE),
  }),
  'agent.plan_staged': stored({
    payload: { plan: Plan },
    trigger: 'The agent proposes a plan',
    past: 'The agent proposed a plan',
    webhook: true,
    sample: { plan: PLAN },
  }),
  'agent.plan_applied': stored({
    payload: { plan: Plan },
    trigger: 'A plan of the agent is applied',
    past: 'A plan of the agent was applied',
    webhook: true,
    sample: { plan: { ...PLAN, status: 'applied' } },
  }),
  'webhook.disabled': stored({
    payload: { webhook: Webhook },
    past: 'Another endpoint of the team was disabled',
    webhook: true,
    sample: { project_id: null, actor_id: null, webhook: ENDPOINT },
  }),
};
