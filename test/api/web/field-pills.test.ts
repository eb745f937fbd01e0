import { createField, setFields, type TestField } from '../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Custom fields on rows and cards, and how a chooser, the palette and the bar set them.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let project: { project_id: string };
let taskId: string;
let severity: TestField;
const db = () => app.services.db;
const open = (person: Person): Promise<Browser> => signIn(app, person);
const create = async (title: string) => (await buildTask(app, team, project, { title })).task_id;
const valueOf = async (id: string, field = severity): Promise<unknown> => {
  const found = await db()('custom_field_values').where({ entity_id: id, field_id: field.field_id }).first();
  return found?.value_text ?? found?.value_number ?? found?.value_boolean ?? null;
};
const OPTIONS = [
  { value: 'S1', label: 'Outage', color: '#cc0000' },
  { value: 'S2', label: 'S"2' },
];

/** The pills of the row of a task: kind of element, look and text. */
const pillsOf = (html: string, id = taskId): string[] => {
  const [, row = ''] = html.split(`<li id="row-${id}"`);
  const [own = ''] = row.split('</li>');
  return [...own.matchAll(/<(button|a|span) [^>]*class="chip cf ([^"]*)"[^>]*>(.*?)<\/\1>(?:\n|$)/gs)].map(
    ([, tag, look, inside = '']) => `${tag} ${look} ${inside.replace(/<[^>]*>/g, '')}`,
  );
};
const ask = async (query: Record<string, string>): Promise<string> =>
  (await browser.get(`/app/palette?${String(new URLSearchParams({ task: taskId, ...query }))}`)).html;
const labels = (html: string): string[] => [...html.matchAll(/<bdi>([^<]*)<\/bdi><\/span>/g)].map(([, label = '']) => label);
const send = async (form: Record<string, string | string[]>, who = browser) => {
  const answer = await who.post('/app/tasks/change', { back: '/app/cycles', ...form }, { from: '/app/cycles' });
  return (await who.get(answer.headers.get('location') ?? '')).html;
};
const choose = (to: string, from?: string, task: string | string[] = `1:${taskId}`) =>
  send({ task, change: `cf_severity:${JSON.stringify(from === undefined ? [to] : [to, from])}` });
const undo = async (html: string, redo = {}) => {
  const packed = /name="undo" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const answer = await browser.post('/app/undo', { undo: packed, back: '/app/cycles', ...redo }, { from: '/app/cycles' });
  return (await browser.get(answer.headers.get('location') ?? '')).html;
};

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  taskId = await create('Fix the crane');
  severity = await createField(app, team, 'select', { name: 'Severity', options: OPTIONS });
  await givePasswords(app);
  browser = await open(team.member);
});

describe('rows', () => {
  it('show the first two fields of the team in every list, as buttons for those who may change the task', async () => {
    const note = await createField(app, team, 'text', { name: 'Cause' });
    const urgent = await createField(app, team, 'boolean', { name: 'Customer waits' });
    await createField(app, team, 'number', { name: 'Third' });
    await setFields(app, team, [
      { field: severity, task_id: taskId, value: 'S1' },
      { field: note, task_id: taskId, value: 'rain' },
    ]);
    const cycle = await createCycle(app.as(team.member), { team_id: team.team_id, name: 'Spring' });
    await app.as(team.member).post(`/api/sprints/${cycle.cycle_id}/tasks`, { task_ids: [taskId] });
    await app.as(team.member).patch(`/api/tasks/${taskId}`, { assigned_to: team.member.user_id });
    const paths = [
      `/app/projects/${project.project_id}`,
      '/app',
      `/app/cycles/${cycle.cycle_id}`,
      '/app/views/mine',
      '/app/search?q=crane',
    ];
    for (const path of paths) {
      expect([path, pillsOf((await browser.get(path)).html)]).toEqual([
        path,
        ['button cf-0 Severity: Outage', 'button cf-1 none Customer waits'],
      ]);
    }
    await setFields(app, team, [{ field: urgent, task_id: taskId, value: true }]);
    const guest = await (await open(team.guest)).get(`/app/projects/${project.project_id}`);
    expect(pillsOf(guest.html)).toEqual(['span cf-0 Severity: Outage', 'span cf-1 Customer waits: Yes']);
    expect(guest.html).toContain('<circle cx="4" cy="4" r="4" fill="#cc0000"/>');
    const board = await browser.get(`/app/projects/${project.project_id}/board`);
    expect([...board.html.matchAll(/<button form="pick" name="pick" value="(cf_[a-z_]+):/g)].map(([, act]) => act)).toEqual([
      'cf_severity',
      'cf_customer_waits',
    ]);
  });

  it('show the fields that a view names, one of several choices as a link, and nothing of another team', async () => {
    const labelled = await createField(app, team, 'multi_select', { name: 'Areas' });
    await createField(app, team, 'date', { name: 'Until' });
    await setFields(app, team, [
      { field: labelled, task_id: taskId, value: ['low', 'high'] },
      { field: severity, task_id: taskId, value: 'S2' },
    ]);
    const view = { name: 'All', entity_type: 'task', layout: 'list', team_id: team.team_id };
    const show = async (columns: string[]) => {
      const { body } = await app.as(team.member).post('/api/saved-views', { ...view, columns });
      return (await browser.get(`/app/views/${body.view_id as string}`)).html;
    };
    expect(pillsOf(await show(['custom_field:areas', 'custom_field:until']))).toEqual([
      'a cf-0 Areas: low, high',
      'button cf-1 none Until',
    ]);
    expect(pillsOf(await show(['title', 'due_date']))).toEqual([]);
    expect(pillsOf(await show([]))).toEqual(['button cf-0 Severity: S&quot;2', 'a cf-1 Areas: low, high']);
    await app.as(team.manager).patch(`/api/custom-fields/${severity.field_id}`, { is_archived: true });
    expect(pillsOf(await show([]))).toEqual(['a cf-0 Areas: low, high', 'button cf-1 none Until']);
    const stranger = await buildTeam(app);
    await givePasswords(app);
    expect((await (await open(stranger.admin)).get('/app/views/all')).html).not.toContain('Areas');
  });
});

describe('a chooser', () => {
  it('lists the fields of the team and their values, and marks the present one', async () => {
    await createField(app, team, 'number', { name: 'Cost' });
    await createField(app, team, 'text', { name: 'Cause' });
    await setFields(app, team, [{ field: severity, task_id: taskId, value: 'S1' }]);
    expect(labels(await ask({ act: 'field' }))).toEqual(['Set Severity…', 'Set Cost…']);
    expect(labels(await ask({ act: 'field', q: 'out' }))).toEqual(['Severity: Outage']);
    const chooser = await ask({ act: 'cf_severity' });
    expect(labels(chooser)).toEqual(['Severity: Outage', 'Severity: S&quot;2', 'Severity: none']);
    expect([
      /Outage<\/bdi><\/span><svg.*?<\/svg><span class="unseen">, now/.test(chooser),
      chooser.includes('data-hint="Set Severity…"'),
    ]).toEqual([true, true]);
    expect(labels(await ask({ act: 'cf_cost', q: '12.5' }))).toEqual(['Cost: 12.5']);
    expect(labels(await ask({ act: 'cf_nothing' }))).toEqual([]);
    expect(labels(await ask({ q: 'severity' }))).toEqual(
      expect.arrayContaining(['Set Severity…', 'Severity: Outage', 'Severity: none']),
    );
    expect(labels(await ask({ q: 'cost 7' }))[0]).toBe('Cost: 7');
    expect(labels(await ask({ q: '' }))).toContain('Set a custom field…');
    await db()('custom_fields').where({ team_id: team.team_id }).update({ is_archived: true });
    expect(labels(await ask({ q: '' }))).not.toContain('Set a custom field…');
  });

  it('is a page of its own without scripts, for a single field at once', async () => {
    const path = `/app/tasks/change?pick=field:1:${taskId}&back=${encodeURIComponent('/app/cycles')}`;
    const { html } = await browser.get(path);
    expect(html).toContain('<h1>Set Severity</h1>');
    const [, change = ''] = /name="change" value="([^"]*S2[^"]*)"/.exec(html) ?? [];
    const decoded = change.replaceAll('&quot;', '"');
    expect(decoded).toBe('cf_severity:["S2",""]');
    const saved = await send({ task: `1:${taskId}`, change: decoded });
    expect([saved.includes('Severity is now S&quot;2'), await valueOf(taskId)]).toEqual([true, 'S2']);
    expect((await browser.get(path.replace('field', 'cf_a-b'))).status).toBe(422);
  });

  it('changes what it showed and nothing else, and Undo gives the earlier value back', async () => {
    const set = await choose('S1', '');
    expect([set.includes('Severity is now Outage'), await valueOf(taskId)]).toEqual([true, 'S1']);
    const stale = await choose('S2', '');
    expect([stale.includes('Severity has another value by now'), await valueOf(taskId)]).toEqual([true, 'S1']);
    expect(await choose('S1', 'S1')).toContain('It is so already');
    const cleared = await choose('', 'S1');
    expect([cleared.includes('Severity is cleared'), await valueOf(taskId)]).toEqual([true, null]);
    const undone = await undo(cleared);
    expect([undone.includes('The change was undone'), await valueOf(taskId)]).toEqual([true, 'S1']);
    await undo(undone, { redo: 'yes' });
    expect(await valueOf(taskId)).toBeNull();
    await choose('S2', '');
    const late = await undo(set);
    expect([late.includes('The field has changed since'), await valueOf(taskId)]).toEqual([true, 'S2']);
  });

  it('refuses what is no value, a required field without one, a stale version, and who only reads', async () => {
    expect(await choose('S9')).toContain('Severity must be one of S1, S2');
    expect(await send({ task: `1:${taskId}`, change: 'cf_severity:S1' })).toContain('Choose one of the values of the field');
    expect(await send({ task: `1:${taskId}`, change: 'cf_missing:["S1"]' })).toContain('Its team has no field missing');
    await app.as(team.manager).patch(`/api/custom-fields/${severity.field_id}`, { required: true });
    expect(await choose('')).toContain('Severity is required');
    expect(labels(await ask({ act: 'cf_severity' }))).toEqual(['Severity: Outage', 'Severity: S&quot;2']);
    await app.as(team.member).patch(`/api/tasks/${taskId}`, { title: 'Another' });
    expect(await choose('S1')).toContain('changed since you opened the list');
    await send({ task: `2:${taskId}`, change: 'cf_severity:["S1"]' }, await open(team.guest));
    const stranger = await buildTeam(app);
    await givePasswords(app);
    await send({ task: `2:${taskId}`, change: 'cf_severity:["S1"]' }, await open(stranger.admin));
    expect(await valueOf(taskId)).toBeNull();
  });

  it('sets dates, numbers, members and yes or no', async () => {
    const cases = [
      ['date', 'Until', '2031-05-01'],
      ['number', 'Cost', '12.5'],
      ['boolean', 'Paid', 'true'],
      ['user', 'Tester', team.admin.user_id],
    ] as const;
    for (const [type, name, value] of cases) {
      const { key } = await createField(app, team, type, { name });
      expect(await send({ task: `1:${taskId}`, change: `cf_${key}:${JSON.stringify([value])}` })).toContain(`${name} is now `);
    }
    const { body } = await app.as(team.member).get(`/api/tasks/${taskId}?include=custom_fields`);
    expect(body.custom_fields).toEqual({ until: '2031-05-01', cost: 12.5, paid: true, tester: team.admin.user_id });
  });
});

it('tells a field apart that is called as a field of every task is', async () => {
  await createField(app, team, 'select', { name: 'Due  date', options: [{ value: 'done' }] });
  expect(labels(await ask({ q: 'done' }))).toContain('Due  date (custom field): done');
});

describe('the bar below a list', () => {
  it('sets a field of all ticked tasks with other changes, and one Undo takes all of it back', async () => {
    const ids = [taskId, await create('Paint the quay'), await create('Moor the barge')];
    await setFields(app, team, [{ field: severity, task_id: ids[1] as string, value: 'S1' }]);
    const { html } = await browser.get(`/app/projects/${project.project_id}`);
    expect(html).toContain('<select id="b-cf_severity" name="cf_severity">');
    const task = ids.map((id) => `1:${id}`);
    const changed = await send({ task, cf_severity: '["S2"]', priority: 'high', status: '' });
    expect([changed.includes('3 tasks changed'), await Promise.all(ids.map((id) => valueOf(id)))]).toEqual([
      true,
      ['S2', 'S2', 'S2'],
    ]);
    const undone = await undo(changed);
    expect([undone.includes('3 changes were undone'), await Promise.all(ids.map((id) => valueOf(id)))]).toEqual([
      true,
      [null, 'S1', null],
    ]);
    expect(await db()('tasks').whereIn('task_id', ids).pluck('priority')).toEqual(['medium', 'medium', 'medium']);
    await undo(undone, { redo: 'yes' });
    expect(await Promise.all(ids.map((id) => valueOf(id)))).toEqual(['S2', 'S2', 'S2']);
  });

  it('says of a task of another team why it was left, and changes the others', async () => {
    const other = await buildTeam(app);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
    const strange = (await buildTask(app, other, await buildProject(app, other), { title: 'Elsewhere' })).task_id;
    const said = await choose('S1', undefined, [`1:${taskId}`, `1:${strange}`]);
    expect(said).toContain('“Elsewhere” was left alone: Its team has no field severity');
    expect([await valueOf(taskId), await valueOf(strange)]).toEqual(['S1', null]);
  });

  it('sets a field of tasks of many teams', async () => {
    const places = await Promise.all(
      Array.from({ length: 22 }, async () => {
        const of = await buildTeam(app);
        await db()('memberships').insert({ team_id: of.team_id, user_id: team.member.user_id, role: 'member' });
        const field = await createField(app, of, 'select', { name: 'Severity', options: OPTIONS });
        return { field, id: (await buildTask(app, of, await buildProject(app, of))).task_id };
      }),
    );
    const said = await choose(
      'S1',
      undefined,
      places.map(({ id }) => `1:${id}`),
    );
    expect(said).toContain('22 tasks changed');
    for (const { id, field } of places) expect(await valueOf(id, field)).toBe('S1');
    const many = Array.from({ length: 21 }, (_, at) => [`cf_f${at}`, '["S1"]']);
    expect(await send({ task: `1:${taskId}`, ...Object.fromEntries(many) })).toContain('Change at most 20 fields at once');
  });

  it('takes a hundred tasks, whose Undo fits into its button', async () => {
    const rows = Array.from({ length: 100 }, (_, at) => ({ title: `Row ${at}`, ...project }));
    const { body } = await app.as(team.member).post('/api/tasks/bulk', rows);
    const ids = (body.results as { task_id: string }[]).map(({ task_id }) => task_id);
    const changed = await send({ task: ids.map((id) => `1:${id}`), cf_severity: '["S1"]', priority: 'low' });
    expect(changed).toContain('100 tasks changed');
    expect(await undo(changed)).toContain('100 changes were undone');
    expect(await db()('custom_field_values').where({ field_id: severity.field_id })).toEqual([]);
  });
});
