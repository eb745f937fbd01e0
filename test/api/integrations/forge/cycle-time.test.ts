import { deliveries, type DeliveryName } from '../../../../scripts/fixtures/forge-payloads.js';
import { buildPerson, buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { relay, send } from './deliver.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let repo: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  repo = `Acme/Rocket-${team.team_id}`;
  await bind(team, { project_id: project.project_id, sync_issues: true });
});

const HOUR = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR).toISOString();
const bind = async (of: TestTeam, fields: Record<string, unknown> = {}) => {
  const answer = await app.as(of.admin).post('/api/forge/repositories', { repo, team_id: of.team_id, ...fields });
  if (answer.status === 201) return;
  await app.services
    .db('forge_repositories')
    .insert({ repo: repo.toLowerCase(), team_id: of.team_id, created_by: of.admin.user_id });
};
const deliver = async (name: DeliveryName, patch: Record<string, unknown>): Promise<void> => {
  expect((await send(app, name, { 'repository.full_name': repo, ...patch })).status).toBe(200);
};
const issue = (name: 'issues.opened' | 'issues.reopened', number: number, opened: number) =>
  deliver(name, { 'issue.number': number, 'issue.created_at': ago(opened), 'issue.updated_at': ago(opened) });
const merge = (number: number, closes: number[], merged: number) =>
  deliver('pull_request.merged', {
    'pull_request.number': number,
    'pull_request.title': 'A fix',
    'pull_request.body': closes.map((n) => `Closes #${n}`).join('\n'),
    'pull_request.merged_at': ago(merged),
  });
const read = async (query = '', by: Person = team.guest) => {
  const answer = await app.as(by).get(`/api/work-items/cycle-time${query}`);
  expect(answer.status).toBe(200);
  return answer.body;
};

it('measures from the issue’s creation to the merge, with medians by repository and project', async () => {
  await issue('issues.opened', 1, 50);
  await issue('issues.opened', 2, 30);
  await issue('issues.opened', 3, 20);
  await merge(11, [1, 2], 10);
  await merge(12, [3], 18);
  await relay(app);
  const body = await read(`?team_id=${team.team_id}`);
  const statistics = { median_hours: 20, p75_hours: 40, sample_size: 3 };
  expect(body).toMatchObject({
    window_days: 90,
    sample_size: 3,
    by_repo: [{ repo: repo.toLowerCase(), ...statistics }],
    by_project: [{ project_id: project.project_id, ...statistics }],
  });
  expect(
    body.samples.map(({ issue_number, pr_number, hours, reopened }: Record<string, unknown>) => [
      issue_number,
      pr_number,
      hours,
      reopened,
    ]),
  ).toEqual([
    [1, 11, 40, false],
    [2, 11, 20, false],
    [3, 12, 2, false],
  ]);
  const [task] = await app.services.db('forge_links').where({ repo: repo.toLowerCase(), kind: 'issue', number: 1 });
  expect(body.samples[0]).toMatchObject({ task_id: task.task_id, project_id: project.project_id });
});

it('does not depend on the order of deliveries, takes the last merge and tells a reopened issue', async () => {
  await merge(21, [1], 5);
  await merge(20, [1], 9);
  await relay(app);
  expect((await read()).sample_size).toBe(0);
  await issue('issues.reopened', 1, 30);
  await issue('issues.opened', 1, 30);
  await relay(app);
  expect((await read()).samples).toMatchObject([{ issue_number: 1, pr_number: 21, hours: 25, reopened: true }]);
});

it('keeps to the window, and to the teams and projects of the caller', async () => {
  await issue('issues.opened', 1, 24 * 200);
  await merge(11, [1], 24 * 100);
  await issue('issues.opened', 2, 48);
  await merge(12, [2], 24);
  await relay(app);
  expect((await read()).sample_size).toBe(1);
  expect((await read('?days=365')).sample_size).toBe(2);
  expect((await read(`?project_id=${project.project_id}`)).sample_size).toBe(1);
  const other = await buildProject(app, team);
  expect(await read(`?project_id=${other.project_id}`)).toMatchObject({
    sample_size: 0,
    by_repo: [],
    by_project: [],
    samples: [],
  });
  expect((await read('', await buildPerson(app))).sample_size).toBe(0);
  expect((await app.as(team.guest).get('/api/work-items/cycle-time?days=366')).status).toBe(422);
});

it('counts a day as the last 24 hours, whatever the time of day', async () => {
  for (const [number, merged] of [
    [1, 1],
    [2, 23],
    [3, 25],
  ] as const) {
    await issue('issues.opened', number, 30);
    await merge(10 + number, [number], merged);
  }
  await relay(app);
  const samples = (await read('?days=1')).samples as { issue_number: number }[];
  expect(samples.map(({ issue_number }) => issue_number)).toEqual([1, 2]);
});

it('a team receives nothing from before its binding', async () => {
  const late = await buildTeam(app);
  await issue('issues.opened', 1, 30);
  await relay(app);
  await bind(late);
  await merge(11, [1], 10);
  await relay(app);
  expect((await read()).sample_size).toBe(1);
  expect((await read('', late.guest)).sample_size).toBe(0);
});

it('counts an issue of two of the caller’s teams once, and names no project or task in the trash', async () => {
  const second = await buildTeam(app);
  await bind(second);
  await app.services.db('memberships').insert({ team_id: second.team_id, user_id: team.member.user_id, role: 'guest' });
  await issue('issues.opened', 1, 30);
  await merge(11, [1], 10);
  await relay(app);
  expect((await read('', team.member)).sample_size).toBe(1);
  await app.as(team.member).delete(`/api/projects/${project.project_id}`);
  const body = await read(`?team_id=${team.team_id}`);
  expect(body).toMatchObject({ sample_size: 1, by_project: [], samples: [{ project_id: null, task_id: null }] });
});

it('the fixtures name the payloads that this file sends', () => {
  expect(Object.keys(deliveries)).toEqual(expect.arrayContaining(['issues.opened', 'issues.reopened', 'pull_request.merged']));
});
