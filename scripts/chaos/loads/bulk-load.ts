import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';

const LOOK_MS = 500;
/** Looks at a job before it is cancelled. */
const MAX_LOOKS = 60;

interface Job {
  job_id: string;
  status: string;
  total: number | null;
  processed: number;
}

/**
 * Exports the tasks of the team and follows the job to its end; now and then cancels it. What a file holds is tried by the tests; here each
 * job ends, once, whatever dies meanwhile.
 */
export async function exportTasks(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  const body = { team_id: world.teamId, entities: ['projects', 'tasks', 'comments'], format: 'ndjson' };
  const headers = { 'idempotency-key': uuidv7() };
  const asked = await caller.untilKnown({ method: 'POST', path: '/api/bulk/export', token: world.manager, headers, body });
  // Too many open jobs are a 409.
  if (asked?.status !== 202) {
    if (asked && asked.status !== 409) surprise(desk, 'export', asked);
    return;
  }
  const path = `/api/bulk/jobs/${(asked.body as Job).job_id}`;
  const looks = random.chance(0.2) ? 1 : MAX_LOOKS;
  for (let look = 0; look < looks; look += 1) {
    const answer = await caller.untilKnown({ method: 'GET', path, token: world.manager });
    if (!answer) return;
    if (answer.status !== 200) return surprise(desk, 'read a job', answer);
    const { status } = answer.body as Job;
    if (status === 'failed') return surprise(desk, 'an export that failed', answer);
    if (status !== 'queued' && status !== 'running') return;
    await sleep(LOOK_MS);
  }
  const cancelled = await caller.untilKnown({ method: 'POST', path: `${path}/cancel`, token: world.manager });
  if (cancelled && ![200, 409].includes(cancelled.status)) surprise(desk, 'cancel an export', cancelled);
}
