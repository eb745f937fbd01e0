import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { hashOfToken, RUNNER_PREFIX } from '../../api/automation/runners/registration/tokens.js';
import type { Client, TestApp } from '../support/app.js';
import type { TestTeam } from './people.js';

export interface TestRunner {
  runner_id: string;
  token: string;
  /** Calls with the runner's token. */
  calls: Client;
}

/** A runner of a team. */
export async function buildRunner(app: TestApp, team: TestTeam, labels: string[] = []): Promise<TestRunner> {
  const token = `${RUNNER_PREFIX}${randomBytes(32).toString('base64url')}`;
  const runner_id = uuidv7();
  await app.services.db('runners').insert({
    runner_id,
    team_id: team.team_id,
    name: `runner ${runner_id.slice(-4)}`,
    labels,
    version: '1',
    token_hash: hashOfToken(token),
    created_by: team.admin.user_id,
  });
  return { runner_id, token, calls: app.as(token) };
}

/** Queues a job as a manager of the team. Returns its id. */
export async function queueJob(app: TestApp, team: TestTeam, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await app
    .as(team.manager)
    .post('/api/runners/jobs', { team_id: team.team_id, command: 'true', labels: [], ...fields });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.job_id as string;
}
