import { TRIGGERS } from '../../../../api/automation/language/triggers.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { createField, setFields } from '../../../factories/custom-fields.js';
import { buildRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Browser, givePasswords, signIn } from '../browser.js';

// The page that tries an automation with an event: what it shows is what a gate would show, and nothing remains of it.

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };
let browser: Browser;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
  await givePasswords(app);
  browser = await signIn(app, team.member);
});

const GATE = { type: 'require_approval', params: { role: 'admin', message: 'Close {{event.task.title}}?' } };
const ACTIONS = [
  GATE,
  { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'done' } },
  { type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: 'Closed {{event.task.title}}' } },
];

async function create(fields: Record<string, unknown> = {}, person: Person = team.member): Promise<string> {
  const definition = { name: 'Close', team_id: team.team_id, trigger_type: 'task.updated', is_active: false, actions: ACTIONS };
  return (await app.as(person).post('/api/automations', { ...definition, ...fields })).body.automation_id;
}
const eventOf = (fields: Record<string, unknown> = {}) =>
  JSON.stringify({ type: 'task.updated', task: { task_id: task.task_id, title: 'From the event', ...fields } });
const pathOf = (id: string) => `/app/automations/${id}/dry-run`;
const send = (id: string, fields: Record<string, string>, person = browser) =>
  person.post(pathOf(id), { version: '1', ...fields }, { from: pathOf(id) });
async function read(answer: { headers: Headers }, person = browser): Promise<string> {
  const result = await person.get(answer.headers.get('location') as string);
  expect(result.status).toBe(200);
  return result.html;
}
const runsOf = (automation_id: string) => app.services.db('automation_runs').where({ automation_id }).orderBy('queued_at');
const taskRow = () => app.services.db('tasks').where({ task_id: task.task_id }).first();

it('shows a recorded event’s actions as a gate would, records the dry run, and changes nothing', async () => {
  const id = await create({ condition: "event.task.title == 'From the event'" });
  const recorded = await buildRun(app, team, { automation: { automation_id: id }, fields: { event: eventOf() } });
  const form = (await browser.get(pathOf(id))).html;
  expect(form).toContain(`value="${recorded.run_id}" checked`);
  const answer = await send(id, { event: recorded.run_id });
  expect(answer.status).toBe(303);
  const html = await read(answer);
  expect(html).toContain('The condition is true for this event.');
  expect(html).toContain('Close From the event?');
  expect(html).toContain('Waits for approval by <strong>an admin</strong>');
  // The title and the old value come from the database, the rest from the event.
  expect(html).toMatch(/<strong>Rotate the keys<\/strong>/);
  expect(html).toMatch(/<del><bdi>To do<\/bdi><\/del> <svg.*?<\/svg><span class="unseen">to<\/span> <bdi>Done<\/bdi>/);
  expect(html).toContain('Closed From the event');
  expect((await taskRow()).status).toBe('todo');
  expect(await app.services.db('comments').where({ task_id: task.task_id })).toEqual([]);
  const [, dry] = await runsOf(id);
  expect(dry).toMatchObject({ is_test: true, triggered_by: team.member.user_id });
});

it('says that a condition is false, or cannot be evaluated', async () => {
  const id = await create({ condition: "event.task.title == 'x'" });
  const no = await read(await send(id, { event: 'own', event_json: eventOf() }));
  expect([no.includes('The condition is false'), no.includes('Rotate the keys')]).toEqual([true, false]);
  const broken = await read(await send(id, { event: 'own', event_json: '{}' }));
  expect(broken).toContain('The condition could not be evaluated: No such key');
});

it('shows what would be refused, and names secrets without their values', async () => {
  await app.as(team.admin).post('/api/automations/secrets', {
    team_id: team.team_id,
    name: 'KEY',
    value: 'hidden-value',
    allowed_hosts: ['example.com'],
  });
  const request = {
    type: 'http_request',
    params: { method: 'POST', url: 'https://example.com/x', headers: { authorization: '{{secret:KEY}}' } },
  };
  const gone = { type: 'set_task_status', params: { task_id: '{{event.nothing}}', status: 'done' } };
  const id = await create({ actions: [request, gone, ACTIONS[1]] });
  const html = await read(await send(id, { event: 'own', event_json: eventOf() }));
  expect(html).toContain('{{secret:KEY}}');
  expect(html).not.toContain('hidden-value');
  expect(html).toContain('Would be refused now: The event has no event.nothing');
  expect(html).toContain('Rotate the keys');
});

it('takes the sample of every trigger', async () => {
  for (const { key } of TRIGGERS) {
    const schedule = key === 'schedule' ? { schedule_cron: '0 9 * * *' } : {};
    const id = await create({ trigger_type: key, ...schedule, actions: [GATE, ACTIONS[2]] });
    const html = await read(await send(id, { event: 'sample' }));
    expect([key, html.includes('every event starts it')]).toEqual([key, true]);
  }
}, 120_000);

it('says beside the form what is wrong with an event, and keeps it', async () => {
  const id = await create();
  for (const [text, message] of [
    ['{"a": ', 'Not valid JSON'],
    ['[1]', 'Must be a JSON object'],
  ] as const) {
    const answer = await send(id, { event: 'own', event_json: text });
    expect([answer.status, answer.html.includes(message), answer.html.includes('aria-invalid')]).toEqual([422, true, true]);
    expect(answer.html).toContain(text.replace('"', '&quot;').slice(0, 3));
  }
  expect(await runsOf(id)).toEqual([]);
});

it('starts a real run with the event', async () => {
  const id = await create();
  const answer = await browser.post(
    `/app/automations/${id}/run`,
    { version: '1', event: 'own', event_json: eventOf() },
    { from: pathOf(id) },
  );
  const [started] = await runsOf(id);
  expect(answer.headers.get('location')).toBe(`/app/runs/${started.run_id}`);
  expect(started).toMatchObject({ is_test: false, event: { task: { title: 'From the event' } } });
});

it('refuses a version that the page did not show, and runs what it shows next', async () => {
  const id = await create();
  await app.as(team.member).patch(`/api/automations/${id}`, { actions: [ACTIONS[2]] });
  for (const path of [pathOf(id), `/app/automations/${id}/run`]) {
    const refused = await browser.post(path, { version: '1', event: 'own', event_json: eventOf() }, { from: pathOf(id) });
    expect([refused.status, refused.html.includes('The automation is at version 2, not 1')]).toEqual([409, true]);
    expect(refused.html).toContain('<input type="hidden" name="version" value="2">');
    expect(refused.html).toContain('From the event');
    expect(refused.html).toMatch(/Nothing was started\. <a href="[^"]+versions\?from=1&amp;to=2">/);
  }
  expect((await browser.post(pathOf(id), { event: 'sample' })).status).toBe(422);
  expect(await runsOf(id)).toEqual([]);
  const result = (await send(id, { version: '2', event: 'own', event_json: eventOf() })).headers.get('location') as string;
  expect((await browser.get(result)).html).not.toContain('see what changed');
  await app.as(team.member).patch(`/api/automations/${id}`, { name: 'Renamed' });
  expect((await browser.get(result)).html).toMatch(
    /what version 2 does\. Now the automation is at version 3: <a href="[^"]+from=2&amp;to=3"/,
  );
});

it('offers events of other automations of the team with the same trigger, and none of other teams', async () => {
  const id = await create();
  const sibling = await create({ name: 'Sibling' }, team.manager);
  const other = await create({ name: 'Other trigger', trigger_type: 'task.created' });
  const known = await buildRun(app, team, { automation: { automation_id: sibling }, fields: { event: eventOf() } });
  const unlike = await buildRun(app, team, { automation: { automation_id: other } });
  const strangers = await buildTeam(app);
  const foreign = await buildRun(app, strangers, { fields: { trigger_type: 'task.updated' } });
  const { html } = await browser.get(pathOf(id));
  expect(html).toContain(known.run_id);
  expect(html).not.toContain(unlike.run_id);
  const refused = await send(id, { event: foreign.run_id });
  expect([refused.status, (await runsOf(id)).length]).toEqual([403, 0]);
});

it('makes an event of a task for triggers that no change of a task tells, and says that it is made', async () => {
  const name = `/app/automations/${await create({ trigger_type: 'task.completed' })}`;
  expect((await browser.get(name)).html).toContain('Try it on a task');
  expect(
    (await browser.get(`/app/automations/${await create({ trigger_type: 'schedule', schedule_cron: '0 9 * * *' })}`)).html,
  ).not.toContain('Try it on a task');
  for (const trigger_type of ['comment.created', 'forge.pr_merged', 'task.deleted']) {
    const id = await create({ trigger_type, condition: 'event.task.title == "Rotate the keys"' });
    const { html } = await browser.get(pathOf(id));
    expect(html).toContain(`value="task:${task.task_id}" checked`);
    expect(html).toContain('As if it happened now, with made-up values beside the task:');
    const seen = await read(await send(id, { event: `task:${task.task_id}` }));
    expect(seen).toContain('The condition is true for this event.');
    expect(seen).toMatch(/Made event\.<\/strong> .*Nothing was written to the task/);
    const [run] = await runsOf(id);
    expect(run.event).toMatchObject({ task: { task_id: task.task_id, title: 'Rotate the keys' } });
    expect(JSON.stringify(run.event)).not.toContain('0197a000-0000-7000-8000-000000000001');
  }
  expect((await taskRow()).status).toBe('todo');
});

it('finds a task by its number', async () => {
  const { key } = await app.services.db('teams').where({ team_id: team.team_id }).first();
  const { number } = await taskRow();
  const id = await create({ trigger_type: 'comment.created' });
  expect((await browser.get(`${pathOf(id)}?find=${key}-${number}`)).html).toContain(`value="task:${task.task_id}" checked`);
});

it('tries a change of the custom field that the condition names: what was set last, what it has, or a value that is chosen', async () => {
  const options = [{ value: 's1', label: 'S1 – down' }, { value: 's2' }];
  const severity = await createField(app, team, 'select', { name: 'Severity', options });
  const effort = await createField(app, team, 'number', { name: 'Effort' });
  const condition = 'event.field.key == "severity" && event.changes.text.to == "S1 – down"';
  const id = await create({ trigger_type: 'task.field_changed', condition });
  const event = `task:${task.task_id}`;
  expect(await read(await send(id, { event }))).toContain('The condition is false');
  await setFields(app, team, [{ field: severity, task_id: task.task_id, value: 's1' }]);
  // The newest change is of another field: that of the condition is tried.
  await setFields(app, team, [{ field: effort, task_id: task.task_id, value: 2 }]);
  const page = (await browser.get(pathOf(id))).html;
  expect(page).toContain(`value="${event}" checked`);
  expect(page).toContain('Try a task as if Severity became');
  expect(page).toContain('<option value="s1" selected>S1 – down</option><option value="s2">s2</option>');
  expect(await read(await send(id, { event, becomes: '' }))).toContain('The condition is true for this event.');
  expect(await read(await send(id, { event, becomes: 's1' }))).toContain('The condition is true for this event.');
  const other = await read(await send(id, { event, becomes: 's2' }));
  expect(other).toContain('The condition is false');
  expect(other).toContain('<option value="s2" selected>');
  const runs = await runsOf(id);
  expect(runs.map(({ event: { field } }: { event: { field: { key: string } } }) => field.key)).toEqual(Array(4).fill('severity'));
  expect(runs.map(({ event: { changes } }: { event: { changes: object } }) => changes)).toEqual([
    { value: { from: null, to: null }, text: { from: null, to: null } },
    { value: { from: null, to: 's1' }, text: { from: null, to: 'S1 – down' } },
    { value: { from: null, to: 's1' }, text: { from: null, to: 'S1 – down' } },
    { value: { from: 's1', to: 's2' }, text: { from: 'S1 – down', to: 's2' } },
  ]);
  expect(runs.at(-1)?.event.task.custom_fields).toMatchObject({ severity: 's2', effort: 2 });
  const { field_id } = severity;
  expect(await app.services.db('custom_field_values').where({ field_id }).pluck('value_text')).toEqual(['s1']);
  expect((await send(id, { event, becomes: 'gone' })).status).toBe(422);
});

it('supposes one of several choices, and nothing where the condition names no field with choices', async () => {
  await createField(app, team, 'multi_select', { name: 'Areas', options: [{ value: 'web' }] });
  const make = (condition: string | null) => create({ trigger_type: 'task.field_changed', condition });
  const many = await make('event.field.key == "areas" && "web" in event.changes.value.to');
  await read(await send(many, { event: `task:${task.task_id}`, becomes: 'web' }));
  expect((await runsOf(many))[0]?.event.changes.value).toEqual({ from: null, to: ['web'] });
  for (const condition of [null, 'event.field.key == "gone"', 'event.changes.value.to == "web"'])
    expect((await browser.get(pathOf(await make(condition)))).html).not.toContain('as if');
});

it('offers tasks whose changes would have started it, before anything was recorded, and any task by its title', async () => {
  const id = await create({ trigger_type: 'task.completed', condition: "event.changes.status.to == 'done'" });
  const project = await buildProject(app, team);
  const open = await buildTask(app, team, project, { title: 'Paint the hull' });
  const before = (await browser.get(pathOf(id))).html;
  expect([before.includes('Rotate the keys'), before.includes('value="sample" checked')]).toEqual([false, true]);
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { status: 'done' });
  const { html } = await browser.get(pathOf(id));
  expect(html).toContain(`value="task:${task.task_id}" checked`);
  expect(html).toContain('changed status from To do to Done ·');
  const seen = await read(await send(id, { event: `task:${task.task_id}` }));
  expect(seen).toContain('The condition is true for this event.');
  const found = (await browser.get(`${pathOf(id)}?find=hull`)).html;
  expect(found).toContain(`value="task:${open.task_id}" checked`);
  expect(found).toContain('As if it happened now: a task was completed');
  const asIf = await read(await send(id, { event: `task:${open.task_id}` }));
  expect(asIf).toContain('The condition is true for this event.');
  expect(asIf).toContain('Paint the hull');
  const runs = await runsOf(id);
  expect(runs.map(({ event }: { event: { changes: unknown } }) => event.changes)).toEqual([
    { status: { from: 'todo', to: 'done' } },
    { status: { from: 'todo', to: 'done' } },
  ]);
  expect((await browser.get(`${pathOf(id)}?find=nothing-like-it`)).html).toContain('No task matches.');
});

it('takes no task that the user may not read', async () => {
  const id = await create();
  const strangers = await buildTeam(app);
  const foreign = await buildTask(app, strangers, await buildProject(app, strangers), { title: 'Foreign hull' });
  expect((await browser.get(`${pathOf(id)}?find=foreign`)).html).not.toContain('Foreign hull');
  for (const event of [`task:${foreign.task_id}`, 'task:none', 'task:']) {
    expect((await send(id, { event })).status).toBeGreaterThanOrEqual(400);
  }
  const result = (await send(id, { event: 'sample' })).headers.get('location') as string;
  expect((await browser.get(result.replace('event=sample', `event=task:${foreign.task_id}`))).html).not.toContain('Foreign hull');
  expect(await runsOf(id)).toHaveLength(1);
});

it('is marked as a dry run in every list, and does not count as failed', async () => {
  const id = await create();
  const { run_id } = await buildRun(app, team, {
    automation: { automation_id: id },
    status: 'failed',
    fields: { is_test: true },
  });
  for (const path of ['/app', '/app/runs', `/app/automations/${id}`, `/app/runs/${run_id}`]) {
    const { html } = await browser.get(path);
    expect([path, html.includes('Dry run, with a fault'), html.includes('class="status failed"')]).toEqual([path, true, false]);
  }
  for (const query of ['state=failed', 'show=failed']) {
    expect((await browser.get(`/app/runs?${query}`)).html).not.toContain(run_id);
  }
});

it('is for those who may start the automation', async () => {
  const id = await create({}, team.manager);
  const result = (await send(id, { event: 'sample' }, await signIn(app, team.manager))).headers.get('location') as string;
  const outsider = (await buildTeam(app)).admin;
  await givePasswords(app);
  for (const person of [team.member, team.guest, outsider]) {
    const own = await signIn(app, person);
    expect((await own.get(result)).status).toBe(403);
    expect((await own.post(pathOf(id), { version: '1', event: 'sample' }, { from: '/app' })).status).toBe(403);
    expect((await own.post(`/app/automations/${id}/run`, { version: '1' }, { from: '/app' })).status).toBe(403);
  }
  expect((await browser.post(pathOf(id), { event: 'sample' }, { csrf: null })).status).toBe(403);
  expect(await runsOf(id)).toHaveLength(1);
  // Neither a real run nor another automation's dry run is shown here.
  const mine = await create();
  expect((await browser.get(result.replace(id, mine))).status).toBe(404);
  const real = await buildRun(app, team, { automation: { automation_id: mine } });
  expect((await browser.get(`${pathOf(mine)}/${real.run_id}`)).status).toBe(404);
});

it('takes no task of another team of the user, which the team of the automation would read in the run', async () => {
  const other = await buildTeam(app);
  await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  const theirs = await buildTask(app, other, await buildProject(app, other), { title: 'Secret hull' });
  const id = await create();
  const answer = await send(id, { event: `task:${theirs.task_id}` });
  expect([answer.status, answer.html.includes('Secret hull')]).toEqual([404, false]);
  expect(await runsOf(id)).toEqual([]);
  const own = await create({ team_id: null });
  expect((await send(own, { event: `task:${theirs.task_id}` })).status).toBe(303);
});

it('chooses the newest recorded event for which the condition holds, and says so when none does', async () => {
  const id = await create({ condition: "event.task.priority == 'urgent'" });
  const event = (priority: string) => {
    const whole = JSON.parse(eventOf());
    return { ...whole, task: { ...whole.task, priority } };
  };
  const at = (minutes: number) => ({ queued_at: new Date(Date.now() - 60_000 * minutes) });
  const record = (priority: string, minutes: number) =>
    buildRun(app, team, { automation: { automation_id: id }, fields: { event: event(priority), ...at(minutes) } });
  const low = await record('low', 1);
  const none = (await browser.get(pathOf(id))).html;
  expect(none).toContain('holds for none of the recorded events');
  expect(none).toContain(`value="${low.run_id}" checked`);
  const old = await record('urgent', 9);
  const fitting = await record('urgent', 5);
  const { html } = await browser.get(pathOf(id));
  expect(html).toContain(`value="${fitting.run_id}" checked`);
  expect([html.includes(old.run_id), html.includes('holds for none')]).toEqual([true, false]);
  // What a user has chosen stays, whether or not the condition holds for it.
  const result = await read(await send(id, { event: low.run_id }));
  expect(result).toContain('The condition is false for this event');
  expect(result).toContain(`value="${low.run_id}" checked`);
});
