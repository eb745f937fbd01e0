import type { Client } from '@temporalio/client';
import { bulkUndoWorkflowId, bulkWorkflowId } from '../../workflows/contracts/bulk-contract.js';
import type { TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { until } from '../support/worker.js';

/** Ways in which an import goes. */
export const IMPORT_PLAYS = ['done', 'refused', 'undone'] as const;

interface Stage {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  temporal: Client;
}

/** Plays one way of an import. Returns the id of its workflow, which has ended. */
export async function playImport({ app, team, project, temporal }: Stage, play: string): Promise<string> {
  const manager = app.as(team.manager);
  const lines = ['A secret title', 'Another one'].map((title) => JSON.stringify({ entity: 'task', title, ...project }));
  const data = play === 'refused' ? 'no array' : lines.join('\n');
  const format = play === 'refused' ? 'json' : 'ndjson';
  const { job_id } = (await manager.post('/api/bulk/import', { team_id: team.team_id, format, data })).body;
  const job = async () => (await manager.get(`/api/bulk/jobs/${job_id}`)).body;
  await until(async () => (await job()).finished_at !== null);
  const workflowId = play === 'undone' ? bulkUndoWorkflowId(job_id) : bulkWorkflowId(job_id);
  if (play === 'undone') {
    await manager.post(`/api/bulk/jobs/${job_id}/undo`);
    await until(async () => (await job()).undo_status === 'succeeded');
  }
  await temporal.workflow.getHandle(workflowId).result();
  return workflowId;
}
