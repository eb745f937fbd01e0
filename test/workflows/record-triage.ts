import type { Client } from '@temporalio/client';
import { ciSubject } from '../../api/automation/triage/ci-subject.js';
import { triageScheduleId } from '../../workflows/contracts/triage-contract.js';
import { send } from '../api/integrations/forge/deliver.js';
import { buildTask, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { until } from '../support/worker.js';

interface Stage {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  temporal: Client;
}

/** Nights and failed CI runs as they may go. */
export const NIGHTS = ['busy', 'quiet'] as const;
export const CI_PLAYS = ['failed', 'several-deliveries', 'switched-off'] as const;

/** Settings of the processes that play failed CI runs. */
export const CI_SETTINGS = { FORGE_WEBHOOK_SECRET: 'shared', FORGE_BINDING: 'open', CI_TRIAGE_SECONDS: '2' };

const save = ({ app, team }: Stage, body: object) =>
  app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, body);

/** Plays one night, started by hand from its Schedule. Returns the id of its workflow. */
export async function playNight(stage: Stage, name: string): Promise<string> {
  const { app, team, project, temporal } = stage;
  if (name === 'busy') await buildTask(app, team, project, { due_date: '2020-01-01' });
  await save(stage, { overnight_triage: { enabled: true } });
  const schedule = temporal.schedule.getHandle(triageScheduleId(app.services.config.TASK_QUEUE_PREFIX, team.team_id));
  await until(() => schedule.describe().catch(() => undefined));
  await schedule.trigger();
  const { action } = await until(async () => (await schedule.describe()).info.recentActions[0]);
  await temporal.workflow.getHandle(action.workflow.workflowId).result();
  return action.workflow.workflowId;
}

/** Plays one failed CI run of a repository that the team binds. Returns the id of its workflow. */
export async function playFailure(stage: Stage, name: string): Promise<string> {
  const { app, team, project, temporal } = stage;
  const repo = 'acme/rocket';
  await app.as(team.admin).post('/api/forge/repositories', { repo, team_id: team.team_id, ...project, sync_issues: false });
  await save(stage, { ci_triage: { enabled: true } });
  const fail = () => send(app, 'workflow_run.failed', { 'repository.full_name': repo, 'workflow_run.id': 7 });
  await fail();
  const workflowId = ciSubject(team.team_id, { repo, run_id: 7, sha: null }) ?? '';
  const handle = temporal.workflow.getHandle(workflowId);
  await until(() => handle.describe().catch(() => undefined));
  if (name === 'several-deliveries') await fail();
  if (name === 'switched-off') await save(stage, {});
  await handle.result();
  return workflowId;
}
