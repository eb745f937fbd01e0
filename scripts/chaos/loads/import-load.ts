import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';
import { commentsFor } from '../world.js';
import { type ImportFile, makeImportFile } from './import-file.js';

/** Tasks of a file: up to four transactions of an import. */
const TASKS = { min: 100, max: 1_600 };
/** Tasks of a file for the team whose automations and webhooks react. */
const MAX_WATCHED = 10;
const LOOK_MS = 500;
/** Looks at a job; kills may hold it up for minutes. */
const MAX_LOOKS = 480;
/** Pause between two imports, ms. */
const PAUSE = { min: 500, max: 3_000 };

interface Job {
  job_id: string;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  total: number | null;
  processed: number;
  created: number;
  updated: number;
  skipped: number;
  failed: number;
  errors: { line: number }[];
  undo_status?: 'queued' | 'running' | 'succeeded' | 'failed' | null;
  undone: number;
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

/** Requests an import, by an upload or with its text. Returns the path of its job. */
async function request(desk: Desk, input: Input): Promise<string | undefined> {
  const { caller, random } = desk;
  const { team_id, token, text, on_conflict = 'error' } = input;
  const file_id = random.chance(0.5) ? await upload(desk, input) : undefined;
  const body = { team_id, format: 'ndjson', on_conflict, ...(file_id === undefined ? { data: text } : { file_id }) };
  const headers = { 'idempotency-key': uuidv7() };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/bulk/import', token, headers, body });
  if (answer?.status === 202) return `/api/bulk/jobs/${(answer.body as Job).job_id}`;
  // A key whose first response was lost with its process is a 409, and so are too many open jobs.
  if (answer && answer.status !== 409) surprise(desk, 'import', answer);
  return undefined;
}

/** Looks at a job until it, or its undo, has ended; undefined when it does not come to that. */
async function follow(desk: Desk, path: string, token: string, looks: number, hasEnded: (job: Job) => boolean) {
  for (let look = 0; look < looks; look += 1) {
    const answer = await desk.caller.untilKnown({ method: 'GET', path, token });
    if (!answer) return undefined;
    if (answer.status !== 200) {
      surprise(desk, 'read an import', answer);
      return undefined;
    }
    const job = answer.body as Job;
    if (hasEnded(job)) return job;
    await sleep(LOOK_MS);
  }
  return undefined;
}

const isEnded = ({ status }: Job): boolean => status !== 'queued' && status !== 'running';

/** Cancels an import, wherever it is. */
async function cancel(desk: Desk, path: string, token: string): Promise<void> {
  const answer = await desk.caller.untilKnown({ method: 'POST', path: `${path}/cancel`, token });
  if (answer && ![200, 409].includes(answer.status)) surprise(desk, 'cancel an import', answer);
}

/** Every line was applied or has an error, and the job counts them. */
function judge({ surprises }: Desk, file: ImportFile, job: Job): void {
  const { total, created, updated, skipped, failed, processed } = job;
  const found = JSON.stringify({ total, created, updated, skipped, failed });
  const wanted = JSON.stringify(file.counts);
  if (found !== wanted || processed !== total) surprises.push(`import ${job.job_id} did ${found}, of its file ${wanted}`);
  const lines = job.errors.map(({ line }) => line).join();
  if (lines !== file.failing.join())
    surprises.push(`import ${job.job_id} has errors in lines ${lines}, not ${file.failing.join()}`);
}

/** Puts a task of somebody else into the project that an import has created: no undo takes the two. */
async function keep({ caller, world }: Desk, { tag, project_id }: ImportFile): Promise<string | null> {
  const task_id = uuidv7();
  const body = { task_id, title: `kept ${tag}`, project_id };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/tasks', token: world.admin, body });
  return answer?.status === 201 || answer?.status === 200 ? task_id : null;
}

/** Undoes an import that has ended, and waits for the end of that. Returns how many records it took back. */
async function undo(desk: Desk, path: string): Promise<number | null> {
  const { caller, world } = desk;
  const answer = await caller.untilKnown({ method: 'POST', path: `${path}/undo`, token: world.admin });
  if (!answer) return null;
  // The second try of a request whose answer was lost.
  if (answer.status !== 202 && !(answer.status === 409 && answer.attempts > 1)) {
    surprise(desk, 'undo', answer);
    return null;
  }
  const job = await follow(
    desk,
    path,
    world.admin,
    MAX_LOOKS,
    ({ undo_status }) => undo_status === 'succeeded' || undo_status === 'failed',
  );
  if (job?.undo_status === 'failed') surprise(desk, 'an undo that failed', { status: 200, body: job });
  return job?.undo_status === 'succeeded' ? job.undone : null;
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
  const path = await request(desk, { team_id: world.teamId, token: world.manager, text });
  if (path === undefined) return;
  const job = await follow(desk, path, world.manager, MAX_LOOKS, isEnded);
  if (job?.status === 'succeeded' && job.created === tasks.length) ledger.tasks.push(...tasks);
  else if (job) surprise(desk, 'an import into the watched project', { status: 200, body: job });
}

/** Imports a file of hundreds of tasks; cancels some and undoes some. */
async function importMany(desk: Desk): Promise<void> {
  const { world, random, ledger } = desk;
  const token = world.admin;
  const file = makeImportFile(random, world, random.between(TASKS.min, TASKS.max));
  const path = await request(desk, { team_id: world.importTeamId, token, text: file.text, on_conflict: file.on_conflict });
  if (path === undefined) return;
  const looks = random.chance(0.3) ? random.between(0, 6) : MAX_LOOKS;
  let job = await follow(desk, path, token, looks, isEnded);
  if (!job) {
    await cancel(desk, path, token);
    job = await follow(desk, path, token, MAX_LOOKS, isEnded);
  }
  if (!job) return;
  if (job.status === 'failed') return surprise(desk, 'an import that failed', { status: 200, body: job });
  if (job.status === 'succeeded') judge(desk, file, job);
  const { job_id, status, created, updated, skipped, failed } = job;
  const imported = { job_id, tag: file.tag, status, created, updated, skipped, failed, undone: null, kept: null };
  if (random.chance(0.5)) return void ledger.imports.push(imported);
  const isKept = status === 'succeeded' && random.chance(0.3);
  const kept = isKept ? await keep(desk, file) : null;
  const undone = await undo(desk, path);
  // Without a known outcome nothing can be said of what is left.
  if (undone !== null && isKept === (kept !== null)) ledger.imports.push({ ...imported, undone, kept });
}

/** Imports into a team of its own, and now and then a few tasks where automations and webhooks react. */
export async function importFiles(desk: Desk): Promise<void> {
  const { random } = desk;
  await (random.chance(0.3) ? importWatched(desk) : importMany(desk));
  await sleep(random.between(PAUSE.min, PAUSE.max));
}
