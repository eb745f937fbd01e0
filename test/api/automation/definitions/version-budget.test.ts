import { randomBytes } from 'node:crypto';
import { deleteExpiredRuns } from '../../../../api/automation/runs/delete-expired-runs.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATED } from '../../../factories/runs.js';
import { startApp, type Answer, type TestApp } from '../../../support/app.js';
import { makeDue, openRelay } from '../../../outbox/support.js';

// An automation keeps its newest versions up to a number and a size, and older ones that a run refers to.

const KEPT = 4;
const BYTES = 100_000;
let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({ AUTOMATION_VERSIONS: String(KEPT), AUTOMATION_VERSIONS_BYTES: String(BYTES) }, 60_000);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const NAMES = { name: 'Short memory', trigger_type: 'task.created' };
const comment = (content: string) => ({ type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content } });
/** Random text is as long in the database as it is here. */
const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex');
const admin = () => app.as(team.admin);
const buildPath = (automation_id: string): string => `/api/automations/${automation_id}`;

async function create(): Promise<string> {
  const { status, body } = await admin().post('/api/automations', { ...NAMES, team_id: team.team_id, actions: [comment('1')] });
  expect(status).toBe(201);
  return body.automation_id;
}
const save = (id: string, content: string): Promise<Answer> =>
  admin().put(buildPath(id), { ...NAMES, actions: [comment(content)] }) as Promise<Answer>;
/** Saves several times, one after the other. */
async function saveTimes(id: string, times: number, toContent = (n: number): string => `save ${n}`): Promise<void> {
  for (let n = 1; n <= times; n += 1) expect((await save(id, toContent(n))).status).toBe(200);
}
const listed = async (id: string): Promise<number[]> =>
  (await admin().get(`${buildPath(id)}/versions`)).body.map(({ version }: { version: number }) => version);
const stored = (id: string): Promise<number[]> =>
  app.services.db('automation_versions').where({ automation_id: id }).orderBy('version', 'desc').pluck('version');
const gone = (version: number) => ({
  status: 404,
  body: {
    error_code: 'RESOURCE_NOT_FOUND',
    message: 'Version not found',
    detail: expect.stringContaining(`Version ${version} was deleted`),
  },
});

it('keeps the newest versions and lists what it keeps', async () => {
  const id = await create();
  await saveTimes(id, 6);
  expect(await listed(id)).toEqual([7, 6, 5, 4]);
  expect(await stored(id)).toEqual([7, 6, 5, 4]);
  expect((await admin().get(buildPath(id))).body).toMatchObject({ version: 7, actions: [comment('save 6')] });
});

it('leaves the versions of another automation alone', async () => {
  const [id, other] = [await create(), await create()];
  await saveTimes(other, 3);
  await saveTimes(id, 6);
  expect(await stored(other)).toEqual([4, 3, 2, 1]);
});

it('returns 404 for a deleted version and says that it was deleted, unlike for one that never existed', async () => {
  const id = await create();
  await saveTimes(id, 4);
  expect(await admin().get(`${buildPath(id)}/versions/1`)).toMatchObject(gone(1));
  expect(await admin().post(`${buildPath(id)}/rollback`, { version: 1 })).toMatchObject(gone(1));
  expect((await admin().get(`${buildPath(id)}/versions/2`)).status).toBe(200);
  const never = await admin().get(`${buildPath(id)}/versions/99`);
  expect(never).toMatchObject({ status: 404, body: { message: 'Version not found' } });
  expect(never.body.detail).not.toContain('Version 99');
});

it('deletes by size before the number is reached, but never the newest two', async () => {
  const id = await create();
  await saveTimes(id, 2, () => noise(8_000));
  expect(await stored(id)).toEqual([3, 2, 1]);
  const large = Array.from({ length: 6 }, () => comment(noise(9_900)));
  for (let n = 0; n < 2; n += 1) expect((await admin().patch(buildPath(id), { actions: large })).status).toBe(200);
  expect(await stored(id)).toEqual([5, 4]);
});

it('keeps what runs refer to while twenty callers save at once', async () => {
  const waiting = await buildRun(app, team, { actions: GATED });
  const id = waiting.automation_id;
  await saveTimes(id, 1);
  const failed = await buildRun(app, team, { automation: { automation_id: id }, status: 'failed', statuses: ['failed'] });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => save(id, `racer ${n}`)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(answers.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 3));
  expect(await listed(id)).toEqual([22, 21, 20, 19, 2, 1]);
  const gate = await app.as(team.manager).post(`/api/automations/runs/${waiting.run_id}/approve`, {});
  expect(gate).toMatchObject({ status: 200 });
  const replay = await app.as(team.manager).post(`/api/automations/dead-letter/${failed.run_id}/retry`, { version: 'original' });
  expect(replay).toMatchObject({ status: 200, body: { automation_version: 2 } });
});

it('deletes such a version with the last run that referred to it', async () => {
  const run = await buildRun(app, team, { status: 'succeeded', statuses: ['succeeded', 'succeeded', 'succeeded'] });
  const id = run.automation_id;
  await saveTimes(id, 5);
  expect(await stored(id)).toEqual([6, 5, 4, 3, 1]);
  expect((await admin().get(`${buildPath(id)}/versions/1`)).status).toBe(200);
  await app.services.db('automation_runs').where({ run_id: run.run_id }).update({ finished_at: '2020-01-01' });
  await deleteExpiredRuns(app.services);
  expect(await stored(id)).toEqual([6, 5, 4, 3]);
});

it('leaves expired runs’ versions that are within the budget', async () => {
  const run = await buildRun(app, team, { status: 'succeeded', statuses: ['succeeded', 'succeeded', 'succeeded'] });
  await saveTimes(run.automation_id, 2);
  await app.services.db('automation_runs').where({ run_id: run.run_id }).update({ finished_at: '2020-01-01' });
  expect(await deleteExpiredRuns(app.services)).toBe(1);
  expect(await stored(run.automation_id)).toEqual([3, 2, 1]);
});

it('matches an event with the current version when the matched one went meanwhile', async () => {
  const id = await create();
  const project = await buildProject(app, team);
  const relay = openRelay(app);
  try {
    await buildTask(app, team, project);
    await makeDue(app);
    const holder = await app.services.db.transaction();
    await holder('automations').where({ automation_id: id }).forNoKeyUpdate().first('automation_id');
    const { ended } = await relay.begin(() => relay.relay.match());
    // As three saves would leave it.
    await holder('automation_versions').insert(
      (await holder('automation_versions').where({ automation_id: id })).map((row) => ({
        ...row,
        version: 4,
        actions: JSON.stringify(row.actions),
      })),
    );
    await holder('automations').where({ automation_id: id }).update({ version: 4 });
    await holder('automation_versions').where({ automation_id: id, version: 1 }).delete();
    await holder.commit();
    await ended;
    await makeDue(app);
    await relay.drain();
    const runs = await app.services.db('automation_runs').where({ automation_id: id });
    expect(runs).toMatchObject([{ automation_version: 4 }]);
    expect(await app.services.db('outbox').where({ kind: 'event' })).toEqual([]);
  } finally {
    await relay.close();
  }
});
