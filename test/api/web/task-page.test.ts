import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

// Editing a task in its page, as a browser without scripts does.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let taskId: string;
let path: string;
const db = () => app.services.db;
const location = (answer: { headers: Headers }): string => answer.headers.get('location') ?? '';
const hidden = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const taskRow = (task_id = taskId) => db()('tasks').where({ task_id }).first();
const follow = async (to: string, form: Record<string, string | string[]>, from = path) => {
  const answer = await browser.post(to, form, { from });
  return answer.status === 303 ? browser.get(location(answer)) : answer;
};
const undo = (html: string, by = browser) =>
  by.post('/app/undo', { undo: hidden(html, 'undo'), back: path }, { from: '/app' }).then((answer) => by.get(location(answer)));
const version = async () => hidden((await browser.get(path)).html, 'version');

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbour' });
  taskId = (await buildTask(app, team, project, { title: 'Fix it', description: 'Old\ntext', tags: ['a'] })).task_id;
  path = `/app/items/${taskId}`;
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

describe('fields', () => {
  it('are saved in place, and Undo gives them back', async () => {
    const form = {
      version: await version(),
      status: 'in_progress',
      assigned_to: team.admin.user_id,
      priority: 'urgent',
      due_date: '2030-02-03',
      tags: '#b, c,',
      'was-tags': 'a',
    };
    const saved = await follow(`${path}/task`, form);
    expect(saved.html).toContain('Status, assignee, priority, due date, and tags changed');
    expect(await taskRow()).toMatchObject({
      status: 'in_progress',
      priority: 'urgent',
      due_date: '2030-02-03',
      tags: ['b', 'c'],
    });
    expect((await undo(saved.html)).html).toContain('The change was undone');
    expect(await taskRow()).toMatchObject({ status: 'todo', assigned_to: null, priority: 'medium', due_date: null, tags: ['a'] });
    const audit = await db()('audit_entries').where({ entity_id: taskId, action: 'update' });
    expect(audit).toHaveLength(2);
  });

  it('of a day are also said in words, however the browser writes a date', async () => {
    await app.as(team.member).patch(`/api/tasks/${taskId}`, { due_date: '2030-02-03' });
    expect((await browser.get(path)).html).toContain('Due <span class="aside">Sun 3 Feb 2030</span>');
  });

  it('that the user did not change are not sent: a time stays with its day', async () => {
    await app.as(team.member).patch(`/api/tasks/${taskId}`, { due_date: '2030-02-03T15:00:00Z' });
    const same = {
      due_date: '2030-02-03',
      'was-due_date': '2030-02-03',
      description: 'Old\r\ntext',
      'was-description': 'Old\r\ntext',
    };
    await follow(`${path}/task`, { version: await version(), title: 'Better', 'was-title': 'Fix it', ...same });
    expect(await taskRow()).toMatchObject({ title: 'Better', due_date: '2030-02-03T15:00:00.000Z', description: 'Old\ntext' });
    const none = await follow(`${path}/task`, { version: await version(), ...same });
    expect([none.html.includes('Nothing was changed'), none.html.includes('name="undo"')]).toEqual([true, false]);
  });

  it('of an outdated form are saved onto the newest version, as long as nobody changed the same ones', async () => {
    const old = await version();
    await app.as(team.admin).patch(`/api/tasks/${taskId}`, { status: 'done', priority: 'low' });
    const mine = { version: old, title: 'Mine', 'was-title': 'Fix it', status: 'done', 'was-status': 'todo' };
    const saved = await follow(`${path}/task`, mine);
    expect(saved.html).toContain('Title and status changed');
    expect(await taskRow()).toMatchObject({ title: 'Mine', status: 'done', priority: 'low', version: 3 });
    await undo(saved.html);
    expect(await taskRow()).toMatchObject({ title: 'Fix it', status: 'done', priority: 'low' });
    const same = await follow(`${path}/task`, { version: old, priority: 'low', 'was-priority': 'medium' });
    expect(same.html).toContain('Nothing was changed');
    const unknown = await browser.post(`${path}/task`, { version: old, priority: 'high' }, { from: path });
    expect([unknown.status, (await taskRow()).priority]).toEqual([409, 'low']);
  });

  it('that others changed too: says who, shows both values, keeps the typed text, saves it when sent again', async () => {
    const old = await version();
    await app.as(team.admin).patch(`/api/tasks/${taskId}`, { status: 'done', title: 'Theirs' });
    const typed = {
      version: old,
      title: 'My long title',
      'was-title': 'Fix it',
      description: 'Mine',
      'was-description': 'Old\ntext',
    };
    const stale = await browser.post(`${path}/task`, typed, { from: path });
    expect(stale.status).toBe(409);
    const name = (await db()('users').where({ user_id: team.admin.user_id }).first('display_name')).display_name as string;
    for (const part of [
      `<strong>${name}</strong>`,
      '<strong>Title</strong>: now <q>Theirs</q>, yours <q>My long title</q>',
      'name="was-title" value="Theirs"',
      'value="My long title"',
      '<option value="done" selected>',
    ])
      expect(stale.html).toContain(part);
    expect(stale.html).not.toContain('<strong>Description</strong>');
    expect(stale.html).toMatch(/name="description"[^>]*>\s*Mine</);
    expect(await taskRow()).toMatchObject({ title: 'Theirs', description: 'Old\ntext' });
    await follow(`${path}/task`, { ...typed, version: hidden(stale.html, 'version'), 'was-title': 'Theirs' });
    expect(await taskRow()).toMatchObject({ title: 'My long title', description: 'Mine', status: 'done' });
    const twice = await browser.post(`${path}/task`, { ...typed, title: 'Other', 'was-title': ['a', 'b'] }, { from: path });
    expect(twice.status).toBe(409);
  });

  it('that many change at once are all saved; of one and the same field one is, and the others hear of it', async () => {
    const old = await version();
    const csrf = readCsrf((await browser.get(path)).html) ?? '';
    const send = (fields: Record<string, string>) => browser.post(`${path}/task`, { version: old, ...fields }, { csrf });
    const others = [
      { title: 'Raced', 'was-title': 'Fix it' },
      { status: 'in_review', 'was-status': 'todo' },
      { priority: 'urgent', 'was-priority': 'medium' },
      { tags: 'x', 'was-tags': 'a' },
    ];
    const answers = await Promise.all(others.map(send));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    expect(await taskRow()).toMatchObject({ title: 'Raced', status: 'in_review', priority: 'urgent', tags: ['x'], version: 5 });
    const met = await Promise.all(['One', 'Two', 'Three'].map((title) => send({ title, 'was-title': 'Raced', version: '5' })));
    expect(met.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 409, 409]);
    expect((await taskRow()).version).toBe(6);
  });

  it('of a stranger from another team are refused, with the version of the task or without', async () => {
    const stranger = await buildTeam(app);
    await givePasswords(app);
    const other = await signIn(app, stranger.admin);
    for (const old of [await version(), '7']) {
      const csrf = readCsrf((await other.get('/app')).html) ?? '';
      const answer = await other.post(`${path}/task`, { version: old, title: 'Theft', 'was-title': 'Fix it' }, { csrf });
      expect([answer.status, answer.html.includes('Fix it')]).toEqual([403, false]);
    }
    expect(await taskRow()).toMatchObject({ title: 'Fix it', version: 1 });
  });

  it('hold the cycle of a task: its open ones, and Undo; another team’s, a completed one and no id are refused', async () => {
    const member = app.as(team.member);
    const cycle = await createCycle(member, { ...project, name: 'Spring' });
    const foreign = await buildTeam(app);
    const theirs = await createCycle(app.as(foreign.member), { ...(await buildProject(app, foreign)), name: 'Elsewhere' });
    const shown = await browser.get(path);
    expect(shown.html).toContain(`<option value="${cycle.cycle_id}">Spring</option>`);
    expect(shown.html).not.toContain('Elsewhere');
    const put = (cycle_id: string, more = {}) =>
      version().then((now) => ({ version: now, cycle_id, 'was-cycle_id': hidden(shown.html, 'was-cycle_id'), ...more }));
    const saved = await follow(`${path}/task`, await put(cycle.cycle_id, { priority: 'high', 'was-priority': 'medium' }));
    expect(saved.html).toContain('Priority and cycle changed');
    expect(await taskRow()).toMatchObject({ cycle_id: cycle.cycle_id, priority: 'high' });
    await undo(saved.html);
    expect(await taskRow()).toMatchObject({ cycle_id: null, priority: 'medium' });
    for (const wrong of [theirs.cycle_id, 'x', '00000000-0000-4000-8000-000000000000']) {
      const answer = await browser.post(`${path}/task`, await put(wrong), { from: path });
      expect([answer.status >= 400 && answer.status < 500, (await taskRow()).cycle_id]).toEqual([true, null]);
    }
    const old = await version();
    await member.post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [taskId] });
    const out = await follow(`${path}/task`, { version: old, title: 'Beside', 'was-title': 'Fix it' });
    expect(out.html).toContain(`<option value="${cycle.cycle_id}" selected>Spring</option>`);
    await follow(`${path}/task`, { version: await version(), cycle_id: '', 'was-cycle_id': cycle.cycle_id });
    expect(await taskRow()).toMatchObject({ cycle_id: null, title: 'Beside' });
  });

  it('and the cycle change both or neither, also where the project takes the cycle along', async () => {
    const member = app.as(team.member);
    const put = (form: Record<string, string>) => version().then((now) => follow(`${path}/task`, { version: now, ...form }));
    const own = await createCycle(member, { ...project, name: 'Spring' });
    await member.post(`/api/sprints/${own.cycle_id}/tasks`, { task_ids: [taskId] });
    const other = await buildProject(app, team, { name: 'Dock works' });
    const leaves = { cycle_id: '', 'was-cycle_id': own.cycle_id };
    const moved = await put({ ...leaves, project_id: other.project_id, 'was-project_id': project.project_id });
    expect(moved.html).toContain('Project and cycle changed');
    expect(await taskRow()).toMatchObject({ ...other, cycle_id: null });
    await undo(moved.html);
    expect(await taskRow()).toMatchObject(project);

    await member.post(`/api/sprints/${own.cycle_id}/start`);
    await member.post(`/api/sprints/${own.cycle_id}/tasks`, { task_ids: [taskId] });
    await member.patch(`/api/tasks/${taskId}`, { status: 'done' });
    await member.post(`/api/sprints/${own.cycle_id}/complete`, {});
    const before = await taskRow();
    expect(before).toMatchObject({ cycle_id: own.cycle_id, status: 'done' });
    const refused = await put({ ...leaves, status: 'todo', 'was-status': 'done' });
    expect(refused.html).toContain('The cycle is completed; its tasks cannot change');
    expect(await taskRow()).toMatchObject({ status: 'done', version: before.version });
    const list = `/app/projects/${project.project_id}`;
    const bulk = { task: `${before.version}:${taskId}`, status: 'todo', cycle: 'backlog', back: list };
    expect((await follow('/app/tasks/change', bulk, list)).html).toContain('Nothing was changed.');
    expect(await taskRow()).toMatchObject({ status: 'done', version: before.version });
  });

  it('of effort and place: an estimate with a comma or a point, and another project of the team with its subtasks', async () => {
    const below = await buildTask(app, team, project, { title: 'Below', parent_task_id: taskId });
    const other = await buildProject(app, team, { name: 'Dock works' });
    await buildProject(app, team, { name: 'Old works', status: 'archived' });
    const shown = await browser.get(path);
    expect(shown.html).toMatch(
      /name="project_id"><option value="[^"]+">Dock works<\/option><option value="[^"]+" selected>Harbour</,
    );
    expect(shown.html).not.toContain('Old works');
    const was = { 'was-estimated_hours': '', 'was-project_id': project.project_id };
    const form = { version: await version(), estimated_hours: '1,5', project_id: other.project_id, ...was };
    const saved = await follow(`${path}/task`, form);
    expect(saved.html).toContain('Estimated hours and project changed');
    expect(saved.html).toContain('name="estimated_hours" inputmode="decimal" value="1.5"');
    expect(await taskRow()).toMatchObject({ estimated_hours: 1.5, ...other });
    expect((await taskRow(below.task_id)).project_id).toBe(other.project_id);
    await undo(saved.html);
    expect(await taskRow()).toMatchObject({ estimated_hours: null, ...project });
    expect((await taskRow(below.task_id)).project_id).toBe(project.project_id);
    for (const estimated_hours of ['x', '-1', '1e3', '1000.5', '1.2.3']) {
      const wrong = await browser.post(`${path}/task`, { version: await version(), estimated_hours }, { from: path });
      expect([estimated_hours, wrong.status, wrong.html.includes('The estimate is a number of hours, at most 1,000')]).toEqual([
        estimated_hours,
        422,
        true,
      ]);
    }
    const points = await follow(`${path}/task`, { version: await version(), estimate: '5', 'was-estimate': '' });
    expect(points.html).toContain('Estimate changed');
    expect(points.html).toContain('<span class="chip">5 points</span>');
    expect(await taskRow()).toMatchObject({ estimate: 5, estimated_hours: null });
    await undo(points.html);
    expect(await taskRow()).toMatchObject({ estimate: null });
    for (const estimate of ['x', '-1', '1.5', '1000', '1e2']) {
      const wrong = await browser.post(`${path}/task`, { version: await version(), estimate }, { from: path });
      const isSaid = wrong.html.includes('The estimate is a whole number of points, at most 999');
      expect([estimate, wrong.status, isSaid]).toEqual([estimate, 422, true]);
    }
    const foreign = await buildProject(app, await buildTeam(app), { name: 'Elsewhere' });
    const refused = await browser.post(
      `${path}/task`,
      { version: await version(), project_id: foreign.project_id, ...was },
      { from: path },
    );
    expect([refused.status, refused.html.includes('Elsewhere'), (await taskRow()).project_id]).toEqual([
      403,
      false,
      project.project_id,
    ]);
  });

  it('that are wrong keep the form', async () => {
    const wrong = await browser.post(`${path}/task`, { version: await version(), title: 'x'.repeat(201) }, { from: path });
    expect([wrong.status, wrong.html.includes(`value="${'x'.repeat(201)}"`)]).toEqual([422, true]);
    const stranger = (await buildTeam(app)).member.user_id;
    const refused = await browser.post(`${path}/task`, { version: await version(), assigned_to: stranger }, { from: path });
    expect([refused.status, (await taskRow()).assigned_to]).toEqual([400, null]);
  });
});

describe('a link to a task in the trash', () => {
  it('says who put it there, offers Restore to those who may, and tells a stranger nothing', async () => {
    await app.as(team.admin).delete(`/api/tasks/${taskId}`);
    const { html, status } = await browser.get(path);
    const name = (await db()('users').where({ user_id: team.admin.user_id }).first('display_name')).display_name as string;
    expect([status, html.includes(`<strong>${name}</strong> put this task in the trash`)]).toEqual([404, true]);
    const guest = await signIn(app, team.guest);
    const read = await guest.get(path);
    expect([read.html.includes('Fix it'), read.html.includes('Restore the task')]).toEqual([true, false]);
    const foreign = await buildTeam(app);
    await givePasswords(app);
    const stranger = await signIn(app, foreign.admin);
    const unknown = await stranger.get('/app/items/01a21cf6-aefd-74fe-a445-57079f84194a');
    const hiddenOne = await stranger.get(path);
    const length = (text: string) => text.replaceAll(/value="[^"]*"/g, '').length;
    expect([hiddenOne.status, hiddenOne.html.includes('Fix it')]).toEqual([404, false]);
    expect(length(hiddenOne.html)).toBe(length(unknown.html));
    const restored = await browser.post('/app/trash/restore', { type: 'task', id: taskId, back: path }, { from: path });
    expect([location(restored), (await browser.get(path)).status]).toEqual([path, 200]);
  });
});

describe('words', () => {
  it('of a form say what is wrong with a text that is too long', async () => {
    const form = {
      version: await version(),
      tags: 'x'.repeat(300),
      'was-tags': 'a',
      title: 'y'.repeat(201),
      'was-title': 'Fix it',
    };
    const { status, html } = await browser.post(`${path}/task`, form, { from: path });
    expect(status).toBe(422);
    expect(html).toContain('Title: at most 200 characters');
    expect(html).not.toMatch(/Too big|expected/i);
    const line = await browser.post(`${path}/subtasks`, { text: 'z'.repeat(300) }, { from: path });
    expect([line.status, line.html.includes('Title: At most 200 characters')]).toEqual([422, true]);
  });

  it('that mention a member stand out, those of others and in code do not', async () => {
    const foreign = await buildTeam(app);
    const nameOf = async (user_id: string) => (await db()('users').where({ user_id }).first('username')).username as string;
    const [own, other] = [await nameOf(team.admin.user_id), await nameOf(foreign.admin.user_id)];
    const shown = await follow(`${path}/comments`, { content: `@${own.toUpperCase()}, @${other}, \`@${own}\` and x@${own}` });
    expect(shown.html.match(/<bdi class="mention">[^<]*/g)).toEqual([`<bdi class="mention">@${own.toUpperCase()}`]);
  });
});

describe('“Ask the agent”', () => {
  it('opens a session with the task linked; a guest and a stranger get none', async () => {
    const asked = await browser.post(`${path}/ask`, {}, { from: path });
    expect([asked.status, location(asked)]).toEqual([303, expect.stringMatching(/^\/app\/agent\/[0-9a-f-]{36}$/)]);
    expect((await browser.get(location(asked))).html).toContain('Fix it');
    const foreign = await buildTeam(app);
    await givePasswords(app);
    for (const person of [team.guest, foreign.member]) {
      const one = await signIn(app, person);
      await one.post(`${path}/ask`, {}, { from: '/app' });
      expect(await db()('agent_sessions').where({ owner_id: person.user_id })).toHaveLength(0);
    }
  });
});

describe('undo', () => {
  it('of a task that changed since says so and undoes nothing', async () => {
    const saved = await follow(`${path}/task`, { version: await version(), status: 'done' });
    await app.as(team.admin).patch(`/api/tasks/${taskId}`, { priority: 'low' });
    const late = await undo(saved.html);
    expect(late.html).toContain('Nothing was undone. Since version 2 priority changed');
    expect(await taskRow()).toMatchObject({ status: 'done', priority: 'low' });
  });

  it('belongs to the session that made the change, and needs its token', async () => {
    const saved = await follow(`${path}/task`, { version: await version(), status: 'done' });
    const other = await signIn(app, team.manager);
    expect((await undo(saved.html, other)).html).toContain('This session did not make the change');
    for (const made of ['', 'x', Buffer.from('{"kind":"restore_project"}').toString('base64url')]) {
      const answer = await browser.post('/app/undo', { undo: made, back: 'https://evil.example/' }, { from: path });
      expect([answer.status, location(answer)]).toEqual([303, '/app']);
    }
    expect((await browser.post('/app/undo', { undo: hidden(saved.html, 'undo') }, { csrf: null })).status).toBe(403);
    expect((await taskRow()).status).toBe('done');
  });

  it('takes the permissions of the moment', async () => {
    const saved = await follow(`${path}/task`, { version: await version(), status: 'done' });
    await db()('memberships').where({ user_id: team.member.user_id, team_id: team.team_id }).update({ role: 'guest' });
    expect((await undo(saved.html)).html).toContain('Nothing was undone.');
    expect((await taskRow()).status).toBe('done');
  });

  it('restores a deleted task with its subtasks', async () => {
    const { task_id } = await buildTask(app, team, project, { title: 'Below', parent_task_id: taskId });
    const gone = await follow(`${path}/delete`, { version: await version() });
    expect(gone.html).toContain('“Fix it” is in the trash');
    expect((await taskRow(task_id)).deleted_at).not.toBeNull();
    await undo(gone.html);
    expect([(await taskRow()).deleted_at, (await taskRow(task_id)).deleted_at]).toEqual([null, null]);
    const late = await follow(`${path}/delete`, { version: '1' });
    expect([late.html.includes('Nothing was deleted.'), (await taskRow()).deleted_at]).toEqual([true, null]);
  });
});

describe('parts', () => {
  it('asks before subtasks go to the trash with the task', async () => {
    const SURE = 'Delete task and subtasks';
    expect((await browser.get(path)).html).not.toContain(SURE);
    const child = await buildTask(app, team, project, { parent_task_id: taskId });
    expect((await browser.get(path)).html).toContain('Its subtask goes to the trash with it. Restoring the task restores both.');
    await buildTask(app, team, project, { parent_task_id: child.task_id });
    const { html } = await browser.get(path);
    expect(html).toContain('Its 2 subtasks go to the trash with it. Restoring the task restores all.');
    expect(html).toContain(SURE);
  });

  it('adds a subtask from one line', async () => {
    const added = await follow(`${path}/subtasks`, { text: 'Order bolts !low' });
    expect([added.html.includes('Added “Order bolts” · low'), added.html.includes('0 of 1 done')]).toEqual([true, true]);
    expect(
      await db()('tasks')
        .where({ title: 'Order bolts', ...project })
        .first(),
    ).toMatchObject({ parent_task_id: taskId });
    const wrong = await browser.post(`${path}/subtasks`, { text: '@none x' }, { from: path });
    expect([wrong.status, wrong.html.includes('value="@none x"')]).toEqual([422, true]);
  });

  it('relates to an item by its title or address, offers a choice, removes, and undoes both', async () => {
    const other = await buildTask(app, team, project, { title: 'Crane inspection' });
    await buildTask(app, team, project, { title: 'Crane repair' });
    const relate = (target: string) => follow(`${path}/relations`, { relation_type: 'blocks', target });
    const added = await relate('crane INSPECTION');
    expect([added.html.includes('Relation added'), added.html.includes('<h3>Blocks</h3>')]).toEqual([true, true]);
    expect((await undo(added.html)).html).not.toContain('<h3>Blocks</h3>');
    const choice = await relate('crane');
    expect([choice.status, choice.html.includes(`type="radio" name="target" value="${other.task_id}"`)]).toEqual([200, true]);
    const related = await relate(`${app.url}/app/items/${other.task_id}`);
    const form = Object.fromEntries(
      ['relation_id', 'source_id', 'target_id', 'relation_type'].map((name) => [name, hidden(related.html, name)]),
    );
    const removed = await follow(`${path}/relations/remove`, form);
    expect(removed.html).toContain('Relation removed');
    expect((await undo(removed.html)).html).toContain('<h3>Blocks</h3>');
    const none = await browser.post(
      `${path}/relations`,
      { relation_type: 'blocks', target: 'nothing of that kind' },
      { from: path },
    );
    expect([none.status, none.html.includes('No item matches')]).toEqual([422, true]);
    const foreign = await buildTeam(app);
    const hiddenTask = await buildTask(app, foreign, await buildProject(app, foreign), { title: 'Secret crane plan' });
    const refused = await browser.post(
      `${path}/relations`,
      { relation_type: 'blocks', target: hiddenTask.task_id },
      { from: path },
    );
    expect([refused.status, refused.html.includes('Secret crane plan')]).toEqual([403, false]);
  });

  it('says in the activity from what to what a custom field changed, as text', async () => {
    const made = await app
      .as(team.manager)
      .post('/api/custom-fields', { team_id: team.team_id, entity_type: 'task', field_type: 'text', name: 'Where' });
    const entity_id = path.split('/').at(-1);
    for (const value of ['Dock <1>', 'Dock 2', null, 'x'.repeat(200), 'Dock 3'])
      await app
        .as(team.member)
        .put('/api/custom-fields/values', { field_id: made.body.field_id, entity_type: 'task', entity_id, value });
    const { html } = await browser.get(path);
    const lines = [...html.matchAll(/<\/bdi>\s*((?:set|cleared) Where[^<]*?) </g)].map(([, line]) => line);
    expect(lines).toEqual([
      'set Where',
      'set Where',
      'cleared Where, which was Dock 2',
      'set Where from Dock &lt;1&gt; to Dock 2',
      'set Where to Dock &lt;1&gt;',
    ]);
  });

  it('attaches a file, once if it is sent twice, and a changed one of the same name too', async () => {
    const csrf = readCsrf((await browser.get(path)).html) as string;
    const send = (name: string, text = 'bytes') => {
      const body = new FormData();
      body.set('_csrf', csrf);
      body.set('file', new Blob([text]), name);
      const cookie = [...browser.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
      return fetch(`${app.url}${path}/files`, { method: 'POST', body, redirect: 'manual', headers: { cookie, origin: app.url } });
    };
    for (const text of ['bytes', 'bytes', 'more bytes']) expect((await send('plan.txt', text)).status).toBe(303);
    expect(await db()('items').where({ title: 'plan.txt' }).join('files', 'files.item_id', 'items.item_id')).toHaveLength(2);
    const { html } = await browser.get(path);
    expect([html.includes('plan.txt'), html.includes('<h3>Attachments</h3>')]).toEqual([true, true]);
    expect(html.match(/attached “plan\.txt”/g)).toHaveLength(2);
    const relation = await db()('relations')
      .where({ relation_type: 'attached_to', target_id: path.split('/').at(-1) })
      .first();
    await app.as(team.member).delete(`/api/work-items/relations/${relation.relation_id}`);
    expect((await browser.get(path)).html).toContain('removed the attachment “plan.txt”');
    const none = await send('');
    expect([none.status, location(none)]).toEqual([303, `${path}#attach`]);
    const large = await send('large.bin', 'x'.repeat(26_214_401));
    expect([large.status, location(large)]).toEqual([303, `${path}#attach`]);
    for (const line of large.headers.getSetCookie()) browser.cookies.set(...(line.split(/[=;]/).slice(0, 2) as [string, string]));
    const at = (await browser.get(path)).html.split('id="attach"')[1]?.split('</details>')[0] ?? '';
    expect([at.startsWith(' open>'), at.includes('The file exceeds 25 MB')]).toEqual([true, true]);
  });

  it('knows a file that is sent twice, whatever separates the parts of each request', async () => {
    const csrf = readCsrf((await browser.get(path)).html) as string;
    const send = (boundary: string, text: string) => {
      const part = (about: string, value: string) =>
        `--${boundary}\r\nContent-Disposition: form-data; ${about}\r\n\r\n${value}\r\n`;
      const body = `${part('name="_csrf"', csrf)}${part('name="file"; filename="crane.txt"', text)}--${boundary}--\r\n`;
      const cookie = [...browser.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
      const headers = { cookie, origin: app.url, 'content-type': `multipart/form-data; boundary=${boundary}` };
      return fetch(`${app.url}${path}/files`, { method: 'POST', body, redirect: 'manual', headers });
    };
    const sent = [
      ['----geckoformboundary1f', 'bytes'],
      ['----geckoformboundary20c', 'bytes'],
      ['----geckoformboundary20c', 'more bytes'],
    ] as const;
    for (const [boundary, text] of sent) expect((await send(boundary, text)).status).toBe(303);
    expect(await db()('items').where({ title: 'crane.txt' })).toHaveLength(2);
  });

  it('adds a comment, undoes it, and deletes one of the user’s own', async () => {
    const added = await follow(`${path}/comments`, { content: 'Look here' });
    expect(added.html).toContain('Look here');
    await undo(added.html);
    expect((await browser.get(path)).html).not.toContain('Look here');
    const theirs = (await app.as(team.admin).post(`/api/tasks/${taskId}/comments`, { content: 'Stays' })).body.comment_id;
    const refused = await follow(`${path}/comments/delete`, { comment_id: theirs });
    expect([refused.html.includes('Only the author'), refused.html.includes('Stays')]).toEqual([true, true]);
  });

  it('edits a comment of the user’s own, keeps a text that is refused, and no text of others', async () => {
    const say = async (who: typeof team.member, content: string): Promise<string> =>
      (await app.as(who).post(`/api/tasks/${taskId}/comments`, { content })).body.comment_id;
    const [mine, theirs] = [await say(team.member, 'Frist'), await say(team.admin, 'Stays')];
    expect((await browser.get(path)).html.match(/comments\/edit"/g)).toHaveLength(1);
    const saved = await follow(`${path}/comments/edit`, { comment_id: mine, content: 'First\r\nline' });
    expect([saved.html.includes('Comment saved'), saved.html.includes('edited')]).toEqual([true, true]);
    const text = async (comment_id: string) => (await db()('comments').where({ comment_id }).first('content')).content as string;
    expect(await text(mine)).toBe('First\nline');
    const edit = (comment_id: string, content: string) =>
      browser.post(`${path}/comments/edit`, { comment_id, content }, { from: path });
    const blank = await edit(mine, ' ');
    expect([blank.status, /<details class="edit" open>\s*<summary>Edit/.test(blank.html)]).toEqual([422, true]);
    const refused = await edit(theirs, 'Forged');
    expect([refused.status, refused.html.includes('Only the author can edit a comment')]).toEqual([403, true]);
    await app.as(team.member).delete(`/api/comments/${mine}`);
    const late = await edit(mine, 'My long text');
    expect([late.status, /name="content"[^>]*>\s*My long text</.test(late.html)]).toEqual([404, true]);
    expect(await text(theirs)).toBe('Stays');
  });

  it('refuses guests, strangers and forms without their token', async () => {
    const { comment_id } = (await app.as(team.member).post(`/api/tasks/${taskId}/comments`, { content: 'Stays' })).body;
    const fields: Record<string, Record<string, string>> = {
      task: { version: '1', status: 'done' },
      subtasks: { text: 'x' },
      relations: { relation_type: 'blocks', target: project.project_id },
      delete: { version: '1' },
      'comments/edit': { comment_id, content: 'x' },
    };
    const other = await buildTeam(app);
    await givePasswords(app);
    for (const person of [team.guest, other.member]) {
      const theirs = await signIn(app, person);
      const csrf = readCsrf((await theirs.get('/app')).html) ?? null;
      for (const [form, given] of Object.entries(fields)) {
        const answer = await theirs.post(`${path}/${form}`, given, { csrf });
        const after = answer.status === 303 ? await theirs.get(location(answer)) : answer;
        expect([form, answer.status === 303 || answer.status === 403, after.html.includes('in the trash')]).toEqual([
          form,
          true,
          false,
        ]);
      }
    }
    for (const [form, given] of Object.entries(fields))
      expect([form, (await browser.post(`${path}/${form}`, given, { csrf: null })).status]).toEqual([form, 403]);
    expect(await taskRow()).toMatchObject({ status: 'todo', deleted_at: null });
    expect(await db()('comments').where({ comment_id }).first('content')).toEqual({ content: 'Stays' });
    expect(await db()('tasks').where(project)).toHaveLength(1);
  });
});

describe('boxes in the text', () => {
  const box = (html: string, label: string) =>
    new RegExp(`name="box" value="([^"]+)" role="checkbox" aria-checked="(?:true|false)" aria-label="${label}"`).exec(
      html,
    )?.[1] ?? '';
  const tick = (name: string, by = browser) => by.post(`${path}/tick`, { box: name }, { from: path });
  const text = async () => (await taskRow()).description;

  beforeEach(() => app.as(team.member).patch(`/api/tasks/${taskId}`, { description: 'To do:\n- [ ] Order\n- [x] Paint' }));

  it('are ticked by a click, which Undo takes back', async () => {
    const { html } = await browser.get(path);
    expect(html).toContain(`>${app.services.config.BASE_URL}/app/tasks/TEA-1</span>`);
    const ticked = await browser.get(location(await tick(box(html, 'Order'))));
    expect(ticked.html).toContain('Ticked');
    expect(await text()).toBe('To do:\n- [x] Order\n- [x] Paint');
    await undo(ticked.html);
    expect(await text()).toBe('To do:\n- [ ] Order\n- [x] Paint');
    await tick(box(html, 'Paint'));
    expect(await text()).toBe('To do:\n- [ ] Order\n- [ ] Paint');
  });

  it('keep what others write meanwhile, and never tick another line', async () => {
    const { html } = await browser.get(path);
    const [order, paint] = [box(html, 'Order'), box(html, 'Paint')];
    await app.as(team.admin).patch(`/api/tasks/${taskId}`, { description: '- [ ] New\n- [ ] Order' });
    await tick(order);
    expect(await text()).toBe('- [ ] New\n- [x] Order');
    const gone = await browser.get(location(await tick(paint)));
    expect(gone.html).toContain('That line has changed. Nothing was ticked.');
    expect(await text()).toBe('- [ ] New\n- [x] Order');
    await app.as(team.admin).patch(`/api/tasks/${taskId}`, { description: '- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d' });
    const four = (await browser.get(path)).html;
    await Promise.all(['a', 'b', 'c', 'd'].map((label) => tick(box(four, label))));
    expect(await text()).toBe('- [x] a\n- [x] b\n- [x] c\n- [x] d');
  });

  it('of a comment are ticked by its author only', async () => {
    const made = await app.as(team.member).post(`/api/tasks/${taskId}/comments`, { content: 'Left:\n- [ ] Sand\n- [x] Wax' });
    const { comment_id } = made.body as { comment_id: string };
    const content = async () => (await db()('comments').where({ comment_id }).first('content')).content;
    const send = (name: string, by = browser) => by.post(`${path}/comments/tick`, { comment_id, box: name }, { from: path });
    const sand = box((await browser.get(path)).html, 'Sand');
    expect((await browser.get(location(await send(sand)))).html).toContain('Ticked');
    expect(await content()).toBe('Left:\n- [x] Sand\n- [x] Wax');
    await send(box((await browser.get(path)).html, 'Wax'));
    expect(await content()).toBe('Left:\n- [x] Sand\n- [ ] Wax');
    const admin = await signIn(app, team.admin);
    expect(box((await admin.get(path)).html, 'Sand')).toBe('');
    const refused = await admin.get(location(await send(sand, admin)));
    expect(refused.html).toContain('Only the author can edit a comment');
    await app.as(team.member).patch(`/api/comments/${comment_id}`, { content: '- [ ] Oil' });
    expect((await browser.get(location(await send(sand)))).html).toContain('That line has changed. Nothing was ticked.');
    expect(await content()).toBe('- [ ] Oil');
  });

  it('are only shown to guests, and refuse nonsense', async () => {
    const guest = await signIn(app, team.guest);
    const { html } = await guest.get(path);
    expect([html.includes('type="checkbox" disabled'), html.includes('name="box"')]).toEqual([true, false]);
    const name = box((await browser.get(path)).html, 'Order');
    const csrf = readCsrf((await guest.get('/app')).html) ?? null;
    expect((await guest.post(`${path}/tick`, { box: name }, { csrf })).status).toBe(403);
    for (const bad of ['', '0:0:zz', '-1:0:000000000000']) expect((await tick(bad)).status).toBe(422);
    expect(await text()).toBe('To do:\n- [ ] Order\n- [x] Paint');
  });
});
