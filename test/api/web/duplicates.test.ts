import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Closing a task as a duplicate of another, as a browser without scripts does.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let original: Task;
let copy: Task;
let path: string;
interface Task {
  task_id: string;
  title: string;
}
const db = () => app.services.db;
const taskOf = (title: string, where = project) => buildTask(app, team, where, { title });
const nameOf = async ({ task_id }: Task): Promise<string> => {
  const [{ key }, { number }] = await Promise.all([
    db()('teams').where({ team_id: team.team_id }).first('key'),
    db()('tasks').where({ task_id }).first('number'),
  ]);
  return `${key as string}-${number as number}`;
};
const hidden = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const rowOf = ({ task_id } = copy) => db()('tasks').where({ task_id }).first();
const edges = () =>
  db()('relations').where({ kind: 'related' }).select('source_id', 'target_id', 'relation_type').orderBy('created_at');
const send = async (to: string, form: Record<string, string | string[]>) => {
  const answer = await browser.post(to, form, { from: path });
  return answer.status === 303 ? browser.get(answer.headers.get('location') ?? '') : answer;
};
const save = async (fields: Record<string, string>) => {
  const { html } = await browser.get(path);
  const shown = { 'was-status': hidden(html, 'was-status'), 'was-duplicate_of': hidden(html, 'was-duplicate_of') };
  return send(`${path}/task`, { version: hidden(html, 'version'), status: 'duplicate', ...shown, ...fields });
};
const undo = async (html: string) => (await send('/app/undo', { undo: hidden(html, 'undo'), back: path })).html;
const relations = async ({ task_id }: Task): Promise<string> =>
  (await browser.get(`/app/items/${task_id}`)).html.split('id="part-relations"')[1]?.split('</section>')[0] ?? '';

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  await db()('relations').delete();
  team = await buildTeam(app);
  project = await buildProject(app, team);
  [original, copy] = [await taskOf('Crane is broken'), await taskOf('Repair the crane')];
  path = `/app/items/${copy.task_id}`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

describe('a task that is closed as a duplicate', () => {
  it('names its original by number; both pages say so, and one Undo takes back both', async () => {
    const name = await nameOf(original);
    const saved = await save({ duplicate_of: name.toLowerCase() });
    expect(saved.html).toContain(`<span>Closed as a duplicate of ${name}</span>`);
    expect(await rowOf()).toMatchObject({ status: 'done', resolution: 'duplicate' });
    expect(await edges()).toEqual([{ source_id: copy.task_id, target_id: original.task_id, relation_type: 'related_to' }]);
    expect(saved.html).toMatch(new RegExp(`<dt>Duplicate of</dt><dd><a href="/app/items/${original.task_id}">${name} Crane`));
    expect(await relations(copy)).toMatch(/<h3>Duplicate of<\/h3>[^]*Crane is broken/);
    expect(await relations(original)).toMatch(/<h3>Duplicated by<\/h3>[^]*Repair the crane/);
    expect(await undo(saved.html)).toContain('The change was undone');
    expect(await rowOf()).toMatchObject({ status: 'todo', resolution: null });
    expect(await edges()).toEqual([]);
  });

  it.each([
    ['its address', () => `${app.url}/app/items/${original.task_id}`],
    ['the address that is copied', async () => `${app.url}/app/tasks/${await nameOf(original)}`],
    ['its title', () => 'crane is broken'],
    ['words of it', () => 'broken'],
    ['what was suggested', async () => `${await nameOf(original)} ${original.title}`],
  ])('takes %s', async (_what, text) => {
    await save({ duplicate_of: await text() });
    expect(await edges()).toMatchObject([{ target_id: original.task_id }]);
  });

  it('needs to name none', async () => {
    const saved = await save({ duplicate_of: '' });
    expect(saved.html).toContain('Status changed');
    expect([(await rowOf()).resolution, await edges()]).toEqual(['duplicate', []]);
  });

  it('asks which one where several match, and says where none does; nothing is saved before', async () => {
    const other = await taskOf('Crane is late');
    const asked = await save({ duplicate_of: 'crane' });
    expect([asked.status, asked.html.includes('Duplicate of which one?')]).toEqual([200, true]);
    expect(asked.html).toContain(`type="radio" name="duplicate_of" value="${other.task_id}"`);
    const none = await save({ duplicate_of: 'zeppelin' });
    expect([none.status, none.html.includes('No task matches “zeppelin”')]).toEqual([422, true]);
    const itself = await save({ duplicate_of: await nameOf(copy) });
    expect(itself.status).toBe(400);
    expect([(await rowOf()).status, await edges()]).toEqual(['todo', []]);
    await save({ duplicate_of: other.task_id });
    expect(await edges()).toMatchObject([{ target_id: other.task_id }]);
  });

  it('gets another original, or none, and Undo gives the first one back', async () => {
    const other = await taskOf('Crane is late');
    await save({ duplicate_of: original.task_id });
    const changed = await save({ duplicate_of: other.task_id });
    expect(await edges()).toMatchObject([{ target_id: other.task_id }]);
    await undo(changed.html);
    expect(await edges()).toMatchObject([{ target_id: original.task_id }]);
    const none = await save({ duplicate_of: '' });
    expect([(await rowOf()).resolution, await edges()]).toEqual(['duplicate', []]);
    await undo(none.html);
    expect(await edges()).toMatchObject([{ target_id: original.task_id }]);
  });

  it('may be related before, and stays so after Undo; what it is related to otherwise is no original', async () => {
    const other = await taskOf('Crane is late');
    for (const [source_id, target_id] of [
      [original.task_id, copy.task_id],
      [copy.task_id, other.task_id],
    ])
      await app.as(team.member).post('/api/work-items/relations', { source_id, target_id, relation_type: 'related_to' });
    const saved = await save({ duplicate_of: original.task_id });
    expect(await relations(copy)).toMatch(/<h3>Duplicate of<\/h3>[^]*is broken[^]*<h3>Related to<\/h3>[^]*is late/);
    await undo(saved.html);
    expect([(await rowOf()).status, (await edges()).length]).toEqual(['todo', 2]);
  });

  it('that others named anew since is not undone', async () => {
    const other = await taskOf('Crane is late');
    const saved = await save({ duplicate_of: original.task_id });
    await save({ duplicate_of: other.task_id });
    expect(await undo(saved.html)).toContain('Nothing was undone. Its relation to the other task has changed since.');
    expect(await edges()).toMatchObject([{ target_id: other.task_id }]);
  });

  it('cannot name a task that is closed as a duplicate of it', async () => {
    await save({ duplicate_of: await nameOf(original) });
    const kept = await edges();
    const { html } = await browser.get(`/app/items/${original.task_id}`);
    const form = {
      version: hidden(html, 'version'),
      status: 'duplicate',
      'was-status': hidden(html, 'was-status'),
      'was-duplicate_of': '',
    };
    const answer = await send(`/app/items/${original.task_id}/task`, { ...form, duplicate_of: await nameOf(copy) });
    expect(answer.html).toContain('That task is closed as a duplicate of this one');
    expect([await edges(), (await rowOf(original)).resolution]).toEqual([kept, null]);
  });

  it('cannot name what its user may not read: nothing is saved', async () => {
    const foreign = await buildTeam(app);
    const hiddenTask = await buildTask(app, foreign, await buildProject(app, foreign), { title: 'Crane of others' });
    const refused = await save({ duplicate_of: hiddenTask.task_id });
    expect(refused.status).toBe(403);
    expect((await save({ duplicate_of: 'crane of others' })).status).toBe(422);
    expect([(await rowOf()).status, await edges()]).toEqual(['todo', []]);
  });
});

describe('suggestions', () => {
  const suggest = async (query: Record<string, string>) =>
    (await browser.get(`/app/suggest?${String(new URLSearchParams({ of: copy.task_id, ...query }))}`)).html;
  const labels = (html: string) => [...html.matchAll(/<bdi>([^<]*)<\/bdi>/g)].map(([, label]) => label);

  it('are tasks that the user may read, by number or words, but not the task itself', async () => {
    const foreign = await buildTeam(app);
    await buildTask(app, foreign, await buildProject(app, foreign), { title: 'Crane of others' });
    const label = `${await nameOf(original)} Crane is broken`;
    expect(labels(await suggest({ q: 'cran' }))).toEqual([label]);
    expect(labels(await suggest({ q: await nameOf(original) }))).toEqual([label]);
    expect(labels(await suggest({ q: await nameOf(copy) }))).toEqual([]);
    expect([labels(await suggest({ q: '' })), labels(await suggest({ q: '\0', of: '' }))]).toEqual([[], []]);
  });

  it('are items of every type for a relation, and at most eight', async () => {
    await app.as(team.member).post('/api/notes', { title: 'Crane book', content: 'x', project_id: project.project_id });
    expect(labels(await suggest({ q: 'crane' }))).toContain('Crane book');
    expect(labels(await suggest({ q: 'crane', type: 'task' }))).not.toContain('Crane book');
    for (let at = 0; at < 9; at += 1) await taskOf(`Crane ${at}`);
    expect(labels(await suggest({ q: 'crane', type: 'task' }))).toHaveLength(8);
  });
});

describe('in the palette', () => {
  const ask = async (query: Record<string, string>) =>
    (await browser.get(`/app/palette?${String(new URLSearchParams({ task: copy.task_id, ...query }))}`)).html;

  it('the status opens a chooser of the original, which also closes without one', async () => {
    expect(await ask({ act: 'status' })).toMatch(/data-act="duplicate"[^]*Set status to Duplicate/);
    const empty = await ask({ act: 'duplicate' });
    expect(empty).toMatch(/value="status:duplicate"[^]*Duplicate, without saying of which task/);
    const found = await ask({ act: 'duplicate', q: 'broken' });
    expect(found).toMatch(new RegExp(`value="duplicate_of:${original.task_id}"[^]*value="status:duplicate"`));
  });

  it('closes several tasks as duplicates of one, and one Undo takes all back', async () => {
    const third = await taskOf('Mend the crane');
    const task = [copy, third, original].map(({ task_id }) => `1:${task_id}`);
    const { html } = await send('/app/tasks/change', { task, change: `duplicate_of:${original.task_id}`, back: path });
    expect(html).toContain('2 tasks changed. “Crane is broken” was left alone');
    expect((await edges()).map(({ source_id }) => source_id as string).toSorted()).toEqual(
      [copy.task_id, third.task_id].toSorted(),
    );
    expect(await undo(html)).toContain('2 changes were undone');
    expect([(await rowOf()).status, (await rowOf(third)).status, await edges()]).toEqual(['todo', 'todo', []]);
    const { version } = await rowOf();
    const one = await send('/app/tasks/change', {
      task: `${version as number}:${copy.task_id}`,
      change: `duplicate_of:${original.task_id}`,
      back: path,
    });
    expect(one.html).toContain(`Closed as a duplicate of ${await nameOf(original)}`);
  });
});

it('a confirmed plan that closes a task and relates it names the original', async () => {
  const session = await buildSession(app, team.member);
  const params = { source_id: copy.task_id, target_id: original.task_id, relation_type: 'related_to' };
  const actions = [
    { tool: 'task.set_status', entity_id: copy.task_id, params: { status: 'done', resolution: 'duplicate' } },
    { tool: 'relation.create', params },
  ] as const;
  const { action_id } = await staged(app, team.member, actions, { session });
  const body = { session_id: session.session_id, action_id };
  expect((await app.as(team.member).post('/api/ai-workspace/agent/confirm', body)).status).toBe(200);
  expect(await relations(copy)).toMatch(/<h3>Duplicate of<\/h3>[^]*Crane is broken/);
});
