import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';
import type { AckedImport } from '../ledger.js';
import { commentsFor } from '../world.js';
import { type ImportFile, makeImportFile } from './import-file.js';

/** Tasks of a file: one transaction of an import, or up to four. */
const FEW = { min: 20, max: 300 };
const MANY = { min: 500, max: 1_600 };
/** Tasks of a file for the team whose automations and webhooks react. */
const MAX_WATCHED = 10;
const LOOK_MS = 500;
/** Looks at an import before its user goes on to the next, and before it is cancelled. */
const MAX_LOOKS = 60;
const MAX_LOOKS_TO_CANCEL = 16;
/** Pause between two imports, ms. */
const PAUSE = { min: 500, max: 3_000 };

interface Job {
  job_id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  undo_status?: 'queued' | 'running' | 'succeeded' | 'failed' | null;
}

interface Input {
  team_id: string;
  token: string;
  text: string;
  on_conflict?: string;
}

/** Uploads a file; undefined when the team keeps ten already, or the outcome did not become known. */
async function upload(desk: Desk, { team_id, token, text }: Input): Promise<string | undefined> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const path = `/api/bulk/uploads?team_id=${team_id}`;
  const answer = await desk.caller.untilKnown({ method: 'POST', path, token, raw: text, headers });
  if (answer && ![201, 409].includes(answer.status)) surprise(desk, 'upload', answer);
  return answer?.status === 201 ? (answer.body as { file_id: string }).file_id : undefined;
}

/** Requests an import, by an upload or with its text. Returns the id of its job. */
async function request(desk: Desk, input: Input): Promise<string | undefined> {
  const { caller, random } = desk;
  const { team_id, token, text, on_conflict = 'error' } = input;
  const file_id = random.chance(0.5) ? await upload(desk, input) : undefined;
  const body = { team_id, format: 'ndjson', on_conflict, ...(file_id === undefined ? { data: text } : { file_id }) };
  const headers = { 'idempotency-key': uuidv7() };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/bulk/import', token, headers, body });
  if (answer?.status === 202) return (answer.body as Job).job_id;
  // Too many open jobs are a 409.
  if (answer && answer.status !== 409) surprise(desk, 'import', answer);
  return undefined;
}

async function read(desk: Desk, jobId: string, token: string): Promise<Job | undefined> {
  const answer = await desk.caller.untilKnown({ method: 'GET', path: `/api/bulk/jobs/${jobId}`, token });
  if (answer?.status === 200) return answer.body as Job;
  if (answer) surprise(desk, 'read an import', answer);
  return undefined;
}

const isOpen = (status: Job['status' | 'undo_status']): boolean => status === 'queued' || status === 'running';

/** Looks at a job until it, or its undo, has ended. Returns whether it has: kills may hold it up for minutes. */
async function follow(
  desk: Desk,
  jobId: string,
  token: string,
  what: 'status' | 'undo_status',
  looks = MAX_LOOKS,
): Promise<boolean> {
  for (let look = 0; look < looks && desk.goesOn(); look += 1) {
    const job = await read(desk, jobId, token);
    if (!job || !isOpen(job[what])) return job !== undefined;
    await sleep(LOOK_MS);
  }
  return false;
}

/** Cancels an import, wherever it is. Returns whether it ended so; undefined if that did not become known. */
async function cancel(desk: Desk, jobId: string): Promise<boolean | undefined> {
  const { caller, world } = desk;
  const path = `/api/bulk/jobs/${jobId}/cancel`;
  const answer = await caller.untilKnown({ method: 'POST', path, token: world.admin });
  if (answer && ![200, 409].includes(answer.status)) surprise(desk, 'cancel an import', answer);
  // It ended before, or by a request whose answer was lost.
  const job = answer?.status === 409 ? await read(desk, jobId, world.admin) : (answer?.body as Job | undefined);
  return job && job.status === 'cancelled';
}

/** Puts a task of another user into the project that an import has created: no undo takes the two. */
async function keep({ caller, world }: Desk, { tag, project_id }: ImportFile): Promise<string | undefined> {
  const task_id = uuidv7();
  const body = { task_id, title: `kept ${tag}`, project_id };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/tasks', token: world.admin, body });
  return answer?.status === 201 || answer?.status === 200 ? task_id : undefined;
}

/** Requests the undo of an import that has ended. Returns whether it was accepted; undefined if that did not become known. */
async function undo(desk: Desk, jobId: string): Promise<boolean | undefined> {
  const { caller, world } = desk;
  const answer = await caller.untilKnown({ method: 'POST', path: `/api/bulk/jobs/${jobId}/undo`, token: world.admin });
  // The second try of a request whose answer was lost.
  const isRepeated = answer?.status === 409 && answer.attempts > 1;
  if (answer && answer.status !== 202 && !isRepeated) surprise(desk, 'undo', answer);
  return answer && (answer.status === 202 || isRepeated);
}

/** Imports tasks into the project whose automations and webhooks react: each is acknowledged like one that came by the API. */
async function importWatched(desk: Desk): Promise<void> {
  const { world, random, ledger } = desk;
  const project_id = world.watched;
  const tasks = Array.from({ length: random.between(1, MAX_WATCHED) }, () => {
    const task_id = uuidv7();
    const title = `imported task ${task_id}`;
    const acked = { task_id, project_id, title, description: null };
    return { ...acked, version: 1, trashed: false, comments: commentsFor(title) };
  });
  const text = tasks.map(({ task_id, title }) => `${JSON.stringify({ entity: 'task', task_id, title, project_id })}\n`).join('');
  const jobId = await request(desk, { team_id: world.teamId, token: world.manager, text });
  if (jobId === undefined) return;
  await follow(desk, jobId, world.manager, 'status');
  ledger.tasks.push(...tasks);
}

/** Undoes an import that has ended, at times after another user has used its project. Returns whether the outcome became known. */
async function undoImport(desk: Desk, file: ImportFile, acked: AckedImport): Promise<boolean> {
  const { world, random } = desk;
  if (!acked.cancelled && random.chance(0.3)) {
    const kept = await keep(desk, file);
    if (kept === undefined) return false;
    acked.kept = kept;
  }
  const undone = await undo(desk, acked.job_id);
  if (undone === undefined) return false;
  acked.undone = undone;
  await follow(desk, acked.job_id, world.admin, 'undo_status');
  return true;
}

/** Imports a file of hundreds of tasks; cancels some and undoes some. The checker compares what is left with what the file must give. */
async function importMany(desk: Desk): Promise<void> {
  const { world, random, ledger } = desk;
  const token = world.admin;
  const team = random.pick(world.importTeams);
  const { min, max } = random.chance(0.6) ? FEW : MANY;
  const file = makeImportFile(random, team, random.between(min, max));
  const { tag, text, counts, failing, on_conflict } = file;
  const job_id = await request(desk, { team_id: team.team_id, token, text, on_conflict });
  if (job_id === undefined) return;
  const acked: AckedImport = { job_id, tag, counts, failing, cancelled: false, undone: false, kept: null };
  const isToCancel = random.chance(0.3);
  const looks = isToCancel ? random.between(1, MAX_LOOKS_TO_CANCEL) : MAX_LOOKS;
  let hasEnded = await follow(desk, job_id, token, 'status', looks);
  if (!hasEnded && isToCancel) {
    const cancelled = await cancel(desk, job_id);
    // Without a known outcome nothing can be said of what is left; so below.
    if (cancelled === undefined) return;
    acked.cancelled = cancelled;
    hasEnded = true;
  }
  if (hasEnded && random.chance(0.5) && !(await undoImport(desk, file, acked))) return;
  ledger.imports.push(acked);
}

/** Imports into teams of its own, and now and then a few tasks where automations and webhooks react. */
export async function importFiles(desk: Desk): Promise<void> {
  const { random } = desk;
  await (random.chance(0.3) ? importWatched(desk) : importMany(desk));
  await sleep(random.between(PAUSE.min, PAUSE.max));
}
