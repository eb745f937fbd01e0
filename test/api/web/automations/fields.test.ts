import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Browser, givePasswords, signIn } from '../browser.js';
import { readFields } from './form.js';

// The fields of a step: people by name, what is needed first, due dates in words, and another action in its place.

let app: TestApp;
let team: TestTeam;
let browser: Browser;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

const NEW = '/app/automations/new';
const start = () => `${NEW}?team=${team.team_id}&template=blank`;
const row = (automation_id: string) => app.services.db('automations').where({ automation_id }).first();
const idIn = (answer: { headers: Headers }): string =>
  answer.headers.get('location')?.slice('/app/automations/'.length) as string;
const nameOf = async (user_id: string) => (await app.services.db('users').where({ user_id }).first()).display_name as string;
const blank = async () => ({ ...readFields((await browser.get(start())).html), name: 'Built' });
const send = (fields: Record<string, string>, op = 'save') => browser.post(NEW, { ...fields, op }, { from: start() });

it('shows people and projects by name, in the form, on its page and in what versions changed', async () => {
  const { project_id } = await buildProject(app, team, { name: 'Crane 4' });
  const [guest, manager] = [await nameOf(team.guest.user_id), await nameOf(team.manager.user_id)];
  const fields = {
    ...(await blank()),
    's1.type': 'create_task',
    's1.p.title': 'Grease it',
    's1.p.project_id': 'crane 4',
    's1.p.assigned_to': guest,
    's2.type': 'notify',
    's2.p.user_ids': `${guest}\r\n${manager}`,
    's2.p.message': 'Greased',
  };
  const id = idIn(await send(fields));
  expect((await row(id)).actions.slice(1)).toMatchObject([
    { params: { project_id, assigned_to: team.guest.user_id } },
    { params: { user_ids: [team.guest.user_id, team.manager.user_id] } },
  ]);
  const path = `/app/automations/${id}`;
  const edited = readFields((await browser.get(`${path}/edit`)).html);
  expect(edited).toMatchObject({
    's1.p.assigned_to': guest,
    's1.p.project_id': 'Crane 4',
    's2.p.user_ids': `${guest}\r\n${manager}`,
  });
  const saved = await browser.post(
    `${path}/edit`,
    { ...edited, 's1.p.assigned_to': manager, op: 'save' },
    { from: `${path}/edit` },
  );
  expect(saved.status).toBe(303);
  const versions = (await browser.get(`${path}/versions`)).html;
  expect([versions.includes(guest), versions.includes(manager), versions.includes('<dt>Assignee</dt>')]).toEqual([
    true,
    true,
    true,
  ]);
  for (const html of [versions, (await browser.get(path)).html]) {
    expect(html).not.toContain(team.guest.user_id);
    expect(html).not.toContain(project_id);
  }
  const json = await browser.post(`${path}/edit`, { ...edited, op: 'json' }, { from: `${path}/edit` });
  expect(readFields(json.html)['json']).toContain(team.guest.user_id);
});

it('knows no one of another team, and tells two of one name apart', async () => {
  const other = await buildTeam(app);
  const task = { ...(await blank()), 's1.type': 'assign_task' };
  const stranger = await send({ ...task, 's1.p.assigned_to': await nameOf(other.member.user_id) });
  const known = (await nameOf(other.member.user_id)) === (await nameOf(team.member.user_id));
  expect(stranger.status).toBe(known ? 303 : 422);
  const { email } = await app.services.db('users').where({ user_id: other.member.user_id }).first();
  expect((await send({ ...task, 's1.p.assigned_to': email })).html).toContain('Nobody in the team is called');
  for (const { user_id } of [team.guest, team.manager])
    await app.services.db('users').where({ user_id }).update({ display_name: 'Kim Same' });
  expect((await send({ ...task, 's1.p.assigned_to': 'kim same' })).html).toContain('Several have the name');
  const { email: manager } = await app.services.db('users').where({ user_id: team.manager.user_id }).first();
  const saved = await send({ ...task, 's1.p.assigned_to': `Kim Same (${manager})` });
  expect((await row(idIn(saved))).actions[1].params).toEqual({ assigned_to: team.manager.user_id });
});

it('shows what people look for at once, required fields first, and names each that is empty', async () => {
  const { html } = await send({ ...(await blank()), add_type: 'create_task' }, 'add');
  const [, first = ''] = /id="step-1"[^]*?<div class="params">([^]*?)<details class="more-fields"/.exec(html) ?? [];
  const labels = [...first.matchAll(/<label for="f-s1\.p\.[^>]+>([^<]+?) ?</g)].map(([, label]) => label);
  expect(labels.slice(0, 6)).toEqual(['Title', 'Project', 'Assignee', 'Status', 'Priority', 'Due']);
  const fields = { ...(await blank()), trigger_type: 'schedule', schedule_cron: 'every monday at 9:00', name: ' ' };
  const refused = await send({ ...fields, 's1.type': 'create_task', 's2.type': 'notify', 's2.p.message': 'x' });
  expect(refused.status).toBe(422);
  for (const text of [
    'A name is required',
    'Title is required',
    'Project is required: the events of this trigger have none',
    'Name people, or choose a role',
  ])
    expect(refused.html).toContain(text);
  expect(refused.html).toMatch(/name="s1\.p\.title"[^>]*aria-invalid="true"/);
});

it.each(['{{task.project_id}}', '  ', '0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee', 'One\nTwo'])(
  'shows the id of a project and a person with the name %j, so that a save without a change changes nothing',
  async (name) => {
    const { project_id } = await buildProject(app, team);
    await app.services.db('projects').where({ project_id }).update({ name });
    await app.services.db('users').where({ user_id: team.guest.user_id }).update({ display_name: name });
    const params = { project_id, title: 'Grease it', assigned_to: team.guest.user_id };
    const fields = { ...(await blank()), 's1.type': 'create_task' };
    const typed = Object.entries(params).map(([key, value]) => [`s1.p.${key}`, value]);
    const id = idIn(await send({ ...fields, ...Object.fromEntries(typed) }));
    const path = `/app/automations/${id}/edit`;
    const edited = readFields((await browser.get(path)).html);
    expect(edited).toMatchObject({ 's1.p.project_id': project_id, 's1.p.assigned_to': team.guest.user_id });
    await browser.post(path, { ...edited, description: 'Another', op: 'save' }, { from: path });
    expect(await row(id)).toMatchObject({ description: 'Another', actions: [{}, { params }] });
  },
);

it('takes due dates in words, which count from the day of the run', async () => {
  const { project_id } = await buildProject(app, team);
  const task = await buildTask(app, team, { project_id }, { title: 'Old' });
  const fields = { ...(await blank()), 's1.type': 'create_task', 's1.p.title': 'Follow up', 's1.p.due_date': 'in 3 days' };
  const id = idIn(await send(fields));
  expect((await row(id)).actions[1].params.due_date).toBe('in 3 days');
  const path = `/app/automations/${id}/dry-run`;
  const event_json = JSON.stringify({ type: 'task.completed', project_id, task: { task_id: task.task_id } });
  const before = new Date();
  const answer = await browser.post(path, { version: '1', event: 'own', event_json }, { from: path });
  const { html } = await browser.get(answer.headers.get('location') as string);
  const days = [before, new Date()].map((day) => new Date(day.getTime() + 3 * 86_400_000).toISOString().slice(0, 10));
  expect(days.some((day) => html.includes(day))).toBe(true);
  for (const [text, why] of [
    ['someday', 'or words such as “in 3 days”'],
    ['31 february', 'or words such as “in 3 days”'],
    ['the 31st', 'or words such as “in 3 days”'],
    ['a year from 9999-12-31', 'or words such as “in 3 days”'],
  ]) {
    const refused = await send({ ...fields, 's1.p.due_date': text as string });
    expect([text, refused.status, refused.html.includes(why as string)]).toEqual([text, 400, true]);
  }
});

it('keeps what was typed for another action, and saves only what the chosen one takes', async () => {
  const add = await send({ ...(await blank()), add_type: 'create_task' }, 'add');
  const typed = { ...readFields(add.html), 's1.p.title': 'Grease it', 's1.p.priority': 'high' };
  const changed = readFields((await send({ ...typed, 's1.as': 'add_comment' }, 'type:1')).html);
  expect(changed).toMatchObject({ 's1.type': 'add_comment', 's1.k.p.title': 'Grease it' });
  const again = readFields((await send({ ...changed, 's1.p.content': 'Said', 's1.as': 'create_task' }, 'type:1')).html);
  expect(again).toMatchObject({
    's1.type': 'create_task',
    's1.p.title': 'Grease it',
    's1.p.priority': 'high',
    's1.k.p.content': 'Said',
  });
  const saved = await send(again);
  expect((await row(idIn(saved))).actions[1]).toMatchObject({ params: { title: 'Grease it', priority: 'high' } });
  expect((await row(idIn(saved))).actions[1].params.content).toBeUndefined();
  // A gate stays a gate.
  const gate = readFields((await send({ ...again, 's0.as': 'delay' }, 'type:0')).html);
  expect(gate['s0.type']).toBe('require_approval');
});

it('answers a button that no page has, and texts of any length, with a message', async () => {
  const id = idIn(await send(await blank()));
  const path = `/app/automations/${id}/edit`;
  const fields = readFields((await browser.get(path)).html);
  expect((await browser.post(path, { ...fields, op: 'rebase:x' }, { from: path })).status).toBe(400);
  const long = 'x'.repeat(3_000);
  for (const name of [
    'name',
    'description',
    'condition',
    'schedule_cron',
    'schedule_timezone',
    'change_note',
    's0.p.message',
    's0.name',
    's0.max_attempts',
  ]) {
    const answer = await browser.post(path, { ...fields, name: 'Other', [name]: long, op: 'save' }, { from: path });
    expect([name, answer.status >= 400 && answer.status < 500]).toEqual([name, true]);
    expect(answer.html).not.toMatch(/Too big|expected string|actions\[|actions\.\d/);
  }
});

it('two people edit one automation: the second sees the other version, and goes on with both changes', async () => {
  const fields = { ...(await blank()), 's1.type': 'create_task', 's1.p.title': 'Grease it' };
  const id = idIn(await send(fields));
  const path = `/app/automations/${id}/edit`;
  const mine = readFields((await browser.get(path)).html);
  const manager = await signIn(app, team.manager);
  const theirs = readFields((await manager.get(path)).html);
  await manager.post(path, { ...theirs, name: 'Renamed', op: 'save' }, { from: path });
  const guest = await nameOf(team.guest.user_id);
  const edited = { ...mine, 's1.p.assigned_to': guest };
  const refused = await browser.post(path, { ...edited, op: 'save' }, { from: path });
  expect([refused.status, readFields(refused.html)['s1.p.assigned_to']]).toEqual([409, guest]);
  const rebased = readFields((await browser.post(path, { ...edited, op: 'rebase:2' }, { from: path })).html);
  expect(rebased).toMatchObject({ name: 'Renamed', version: '2', 's1.p.assigned_to': guest });
  expect((await browser.post(path, { ...rebased, op: 'save' }, { from: path })).status).toBe(303);
  expect(await row(id)).toMatchObject({ name: 'Renamed', actions: [{}, { params: { assigned_to: team.guest.user_id } }] });
});

it('takes tasks by title, address or id and cycles by name, shows them by title, and lists what a doubtful title may mean', async () => {
  const project = await buildProject(app, team);
  const build = (title: string) => buildTask(app, team, project, { title });
  const [crane, twin, other] = [await build('Fix the crane'), await build('Paint the quay'), await build('Paint the  Quay!')];
  await build('Paint the quay');
  const { body: cycle } = await app.as(team.manager).post('/api/sprints', { team_id: team.team_id, name: 'Spring' });
  const fields = { ...(await blank()), 's1.type': 'move_to_cycle', 's1.p.cycle_id': 'spring', op: 'save', name: 'By title' };
  const send1 = (task: string, more = {}) => send({ ...fields, 's1.p.task_id': task, ...more });
  const saved = await send1(' fix the CRANE');
  const { cycle_id } = (cycle.data ?? cycle) as { cycle_id: string };
  expect((await row(idIn(saved))).actions[1].params).toEqual({ task_id: crane.task_id, cycle_id });
  const edited = readFields((await browser.get(`/app/automations/${idIn(saved)}/edit`)).html);
  const shown = `Fix the crane (${crane.task_id})`;
  expect(edited).toMatchObject({ 's1.p.task_id': shown, 's1.p.cycle_id': 'Spring' });
  for (const text of [shown, crane.task_id, `https://a.test/app/items/${crane.task_id}#x`])
    expect((await row(idIn(await send1(text)))).actions[1].params.task_id).toBe(crane.task_id);

  const several = await send1('paint the quay');
  expect(several.status).toBe(422);
  expect(several.html).toMatch(/id="h-s1\.p\.task_id" class="wrong">Several have the name “paint the quay”: choose one of/);
  expect(several.html).toContain(`“Paint the quay (${twin.task_id})”`);
  const almost = await send1('paint quay');
  expect(almost.html).toContain('No task of the team is called “paint quay”. Did you mean');
  expect(almost.html).toContain(other.task_id);
  expect((await send1('Fix the crane', { 's1.p.cycle_id': 'Autumn' })).html).toContain(
    'No open cycle of the team is called “Autumn”',
  );
  expect((await send1('TASK-404')).html).toContain('No task of the team is called “TASK-404”');
  expect((await send1('build_404')).status).toBe(303);
  expect((await send({ ...fields, 's1.type': 'create_task', 's1.p.title': 'x', 's1.p.project_id': 'dock9' })).html).toContain(
    'No project of the team is called “dock9”',
  );
  // Neither its title nor its id leads to a task of a team that the user is not in.
  const foreign = await buildTeam(app);
  const hidden = await buildTask(app, foreign, await buildProject(app, foreign), { title: 'Hidden plan' });
  expect((await send1('Hidden plan')).html).toContain('No task of the team is called “Hidden plan”<');
  expect((await send1('Fix the crane', { 's1.p.task_id': `x (${hidden.task_id})` })).status).toBe(422);
  expect((await send({ ...fields, 's1.p.task_id': hidden.task_id }, 'show')).html).not.toContain('Hidden plan');
});

it('takes a project by name that is beyond those which it offers', async () => {
  const names = Array.from({ length: 201 }, (_, at) => `Dock ${String(at).padStart(3, '0')}`);
  for (const name of names) await buildProject(app, team, { name });
  const fields = { ...(await blank()), 's1.type': 'create_task', 's1.p.title': 'Sweep', name: 'Far', op: 'save' };
  const saved = await send({ ...fields, 's1.p.project_id': 'dock 200' });
  const { project_id } = await app.services.db('projects').where({ name: 'Dock 200', team_id: team.team_id }).first();
  expect((await row(idIn(saved))).actions[1].params.project_id).toBe(project_id);
});

it('offers times for a schedule only', async () => {
  const { html } = await send(await blank(), 'show');
  expect(html).toMatch(/id="schedule" hidden>/);
  expect((await send({ ...(await blank()), trigger_type: 'schedule' }, 'show')).html).toMatch(/id="schedule" open>/);
});

it('what others call or name a task changes no target: not its title, not an id that they choose', async () => {
  const project = await buildProject(app, team);
  const { task_id } = await buildTask(app, team, project, { title: 'Target' });
  const other = await buildTask(app, team, project, { title: 'Other' });
  const targetOf = async (text: string, path = NEW) => {
    const fields = { ...readFields((await browser.get(path === NEW ? start() : path)).html), name: 'Built' };
    const step = path === NEW ? { 's1.type': 'set_task_status', 's1.p.status': 'done', 's1.p.task_id': text } : {};
    const saved = await browser.post(path, { ...fields, ...step, op: 'save' }, { from: path === NEW ? start() : path });
    const id = path === NEW ? idIn(saved) : path.split('/')[3];
    return [saved.status, id && ((await row(id)).actions.at(-1)?.params.task_id as string), id];
  };
  const [, made, id] = await targetOf(task_id);
  await app.as(team.member).patch(`/api/tasks/${task_id}`, { title: `See /app/items/${other.task_id}` });
  expect([made, (await targetOf('', `/app/automations/${id}/edit`))[1]]).toEqual([task_id, task_id]);
  await app.as(team.admin).patch(`/api/teams/${team.team_id}`, { key: 'SHIP' });
  await app.as(team.member).post('/api/tasks', { ...project, task_id: 'SHIP-1', title: 'Chosen id' });
  expect((await targetOf('ship-1')).slice(0, 2)).toEqual([303, task_id]);
  const exact = await buildTask(app, team, project, { title: 'Deploy (v2.1)' });
  await app.as(team.member).post('/api/tasks', { ...project, task_id: 'v2.1', title: 'Hostile' });
  expect((await targetOf('Deploy (v2.1)')).slice(0, 2)).toEqual([303, exact.task_id]);
});

it('one wrong name of a field is said, however many follow', async () => {
  const names = Array.from({ length: 400 }, (_, at) => `nobody ${at}`).join('\n');
  const fields = { ...readFields((await browser.get(start())).html), name: 'Built', 's1.type': 'notify', 's1.p.message': 'x' };
  const { status, html } = await browser.post(NEW, { ...fields, 's1.p.user_ids': names, op: 'save' }, { from: start() });
  expect([status, html.match(/Nobody in the team is called/g)?.length]).toEqual([422, 1]);
  const many = await browser.post(NEW, { ...fields, 's1.p.user_ids': `${names}\n${names}`, op: 'save' }, { from: start() });
  expect(many.status).toBe(400);
});
