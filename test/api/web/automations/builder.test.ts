import { buildParamsSchema } from '../../../../api/automation/actions/list-action-types.js';
import { availableActions } from '../../../../api/automation/actions/registry.js';
import { GATE } from '../../../../api/automation/actions/rules.js';
import { FIELD_TEXTS } from '../../../../api/web/wording/field-texts.js';
import { TEMPLATES } from '../../../../api/web/pages/automations/templates.js';
import { createField } from '../../../factories/custom-fields.js';
import { buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Browser, givePasswords, signIn } from '../browser.js';
import { readFields } from './form.js';

// The builder as a browser without scripts uses it: each button sends the form, and only one saves.

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
const start = (template = 'blank') => `${NEW}?team=${team.team_id}&template=${template}`;
const row = (automation_id: string) => app.services.db('automations').where({ automation_id }).first();
const idIn = (answer: { headers: Headers }): string =>
  answer.headers.get('location')?.slice('/app/automations/'.length) as string;

async function create(person: Person, fields: Record<string, unknown> = {}): Promise<string> {
  const definition = {
    name: 'First',
    team_id: team.team_id,
    trigger_type: 'task.created',
    actions: [{ type: 'delay', params: { seconds: 5 } }],
  };
  return (await app.as(person).post('/api/automations', { ...definition, ...fields })).body.automation_id;
}

describe('a new automation', () => {
  it('is built step by step, a gate first, and created disabled', async () => {
    let fields = readFields((await browser.get(start())).html);
    expect(fields).toMatchObject({ 's0.type': 'require_approval', 's0.p.role': 'manager', team_id: team.team_id });
    const press = async (op: string, given: Record<string, string> = {}) => {
      const answer = await browser.post(NEW, { ...fields, ...given, op }, { from: start() });
      expect([op, answer.status]).toEqual([op, 200]);
      fields = readFields(answer.html);
      return answer.html;
    };
    await press('add', { name: 'Built', add_type: 'add_comment' });
    await press('add', { 's1.p.content': 'Line one\r\n{{event.task.title}}', add_type: 'delay' });
    await press('up:2', { 's2.p.seconds': '1', 's2.u.seconds': 'minutes' });
    expect([fields['s1.type'], fields['s2.type'], fields['s1.p.seconds']]).toEqual(['delay', 'add_comment', '1']);
    await press('down:1');
    const free = await press('remove:0');
    expect(free).toContain('Nobody is asked before these steps run.');
    await press('gate');
    expect(fields).toMatchObject({ 's0.type': 'require_approval', 's1.type': 'add_comment', 's2.type': 'delay', name: 'Built' });
    expect(await app.services.db('automations').where({ team_id: team.team_id })).toEqual([]);
    const saved = await browser.post(NEW, { ...fields, op: 'save' }, { from: start() });
    expect(saved.status).toBe(303);
    expect(await row(idIn(saved))).toMatchObject({
      name: 'Built',
      is_active: false,
      team_id: team.team_id,
      created_by: team.member.user_id,
      actions: [
        { type: 'require_approval', params: { role: 'manager', if_changed: 'ask_again' } },
        { type: 'add_comment', params: { content: 'Line one\n{{event.task.title}}' } },
        { type: 'delay', params: { seconds: 60 } },
      ],
    });
  });

  it('takes a schedule in words, shows its next times in the zone of the user, and stores cron', async () => {
    await app.as(team.member).patch('/api/auth/me', { preferences: { timezone: 'Asia/Tokyo' } });
    const fields: Record<string, string> = {
      ...readFields((await browser.get(start())).html),
      name: 'Weekly',
      trigger_type: 'schedule',
    };
    expect(fields['schedule_timezone']).toBe('Asia/Tokyo');
    const words = { schedule_cron: 'every monday at 9:00' };
    const shown = (await browser.post(NEW, { ...fields, ...words, op: 'show' }, { from: start() })).html;
    expect(shown).toMatch(
      /Every Monday at 9:00<\/strong> \(Asia\/Tokyo\)\. Next, in your time zone: (<time[^>]+>[^<]+, 09:00<\/time>( · )?){3}/,
    );
    const typing = `schedule_cron=${encodeURIComponent('every monday at 9:00')}&schedule_timezone=UTC`;
    expect((await browser.get(`/app/automations/schedule?${typing}`)).html).toMatch(/<time[^>]+>[^<]+, 18:00<\/time>/);
    const refused = await browser.post(NEW, { ...fields, schedule_cron: 'every monday', op: 'save' }, { from: start() });
    expect([refused.status, refused.html.includes('Say at which time: add “at 9:00”')]).toEqual([422, true]);
    expect(readFields(refused.html)['schedule_cron']).toBe('every monday');
    const saved = await browser.post(NEW, { ...fields, ...words, op: 'save' }, { from: start() });
    expect(await row(idIn(saved))).toMatchObject({ schedule_cron: '0 9 * * MON', schedule_timezone: 'Asia/Tokyo' });
    expect((await browser.get(saved.headers.get('location') as string)).html).toContain('every Monday at 9:00 (Asia/Tokyo)');
  });

  it('does not offer to enable what it refuses to save', async () => {
    const fields = { ...readFields((await browser.get(start())).html), name: 'Marked', condition: 'nope ==', is_active: 'yes' };
    const refused = await browser.post(NEW, { ...fields, op: 'save' }, { from: start() });
    expect([refused.status, refused.html.includes('name="is_active"'), refused.html.includes('nope ==')]).toEqual([
      400,
      false,
      true,
    ]);
    expect(refused.html).toContain('It can be enabled once it is saved.');
    const { is_active: _gone, ...typed } = { ...readFields(refused.html), is_active: '' };
    const saved = await browser.post(NEW, { ...typed, condition: '', op: 'save' }, { from: start() });
    expect(await row(idIn(saved))).toMatchObject({ name: 'Marked', is_active: false });
  });

  it('asks before it enables an automation with warnings', async () => {
    const id = await create(team.member, {
      is_active: false,
      actions: [{ type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: '{{event.tsk}}' } }],
    });
    const { html } = await browser.get(`/app/automations/${id}`);
    expect(html).toContain('The problems below are not fixed yet.');
    expect(html).toContain('Enable it anyway');
    const path = `/app/automations/${id}`;
    expect((await browser.post(`${path}/toggle`, { state: 'on', version: '1' }, { from: path })).status).toBe(303);
    expect((await row(id)).is_active).toBe(true);
  });

  it('says beside the field what the operation refuses, and keeps what was typed', async () => {
    const fields = { ...readFields((await browser.get(start())).html), name: 'Kept', op: 'save' };
    const send = (given: Record<string, string>) => browser.post(NEW, { ...fields, ...given }, { from: start() });
    const condition = await send({ condition: 'task.title = "x"' });
    expect([condition.status, condition.html.includes('value="Kept"')]).toEqual([400, true]);
    expect(condition.html).toMatch(/id="f-condition"[^>]*aria-invalid="true"/);
    const action = await send({ 's1.type': 'delay', 's1.p.seconds': 'soon' });
    expect(action.status).toBe(400);
    expect(action.html).toMatch(/value="soon"[^>]*aria-invalid="true"/);
    const headers = await send({ 's1.type': 'http_request', 's1.p.headers': 'nonsense' });
    expect([headers.status, headers.html.includes('Each line needs a name, a colon and a value')]).toEqual([422, true]);
    const unnamed = await send({ name: ' ' });
    expect([unnamed.status, /id="f-name"[^>]*aria-invalid/.test(unnamed.html)]).toEqual([422, true]);
    expect(await app.services.db('automations').where({ team_id: team.team_id })).toEqual([]);
  });

  it('takes a person and a project by name, and refuses a name of nobody', async () => {
    const { project_id } = await buildProject(app, team, { name: 'Crane 4 overhaul' });
    const { name } = await app.services.db('users').where({ user_id: team.guest.user_id }).first();
    const fields = { ...readFields((await browser.get(start())).html), name: 'Named', op: 'save' };
    const task = { 's1.type': 'create_task', 's1.p.title': 'Grease', 's1.p.project_id': 'crane 4 Overhaul' };
    const send = (given: Record<string, string>) => browser.post(NEW, { ...fields, ...task, ...given }, { from: start() });
    const refused = await send({ 's1.p.assigned_to': 'Nobody Here' });
    expect([refused.status, refused.html.includes('Nobody in the team is called “Nobody Here”')]).toEqual([422, true]);
    expect(refused.html).toMatch(/value="Nobody Here"[^>]*aria-invalid="true"/);
    const saved = await send({ 's1.p.assigned_to': name });
    expect((await row(idIn(saved))).actions[1]).toMatchObject({ params: { project_id, assigned_to: team.guest.user_id } });
  });

  it('asks for a gate in words, and for times in days, hours and minutes', async () => {
    const { html } = await browser.get(start('deploy-release'));
    const gate = availableActions().find(({ type }) => type === GATE);
    const { properties } = buildParamsSchema(gate as NonNullable<typeof gate>) as { properties: object };
    expect(Object.keys(FIELD_TEXTS[GATE] ?? {}).toSorted()).toEqual(Object.keys(properties).toSorted());
    for (const { label } of Object.values(FIELD_TEXTS[GATE] ?? {})) expect(html).toContain(`>${label}</label>`);
    expect(html).not.toMatch(/>[^<]*(in seconds|259200|86400)[^<]*</);
    expect(html).toMatch(/<option value="manager" selected>Managers and admins</);
    const fields = readFields(html);
    expect(fields).toMatchObject({ 's0.p.expires_in_seconds': '1', 's0.u.expires_in_seconds': 'days' });
    const given = { 's0.p.expires_in_seconds': '90', 's0.u.expires_in_seconds': 'minutes', 's0.p.remind_after_seconds': '0.5' };
    const shown = readFields((await browser.post(NEW, { ...fields, ...given, op: 'show' }, { from: start() })).html);
    expect(shown).toMatchObject({ ...given, 's0.u.remind_after_seconds': 'hours' });
    const saved = await browser.post(NEW, { ...shown, op: 'save' }, { from: start() });
    const [{ params }] = (await row(idIn(saved))).actions;
    expect(params).toMatchObject({ required_approvals: 2, expires_in_seconds: 5_400, remind_after_seconds: 1_800 });
    const edited = readFields((await browser.get(`/app/automations/${idIn(saved)}/edit`)).html);
    expect([edited['s0.p.remind_after_seconds'], edited['s0.u.remind_after_seconds']]).toEqual(['30', 'minutes']);
    const long = await browser.post(NEW, {
      ...shown,
      's0.p.expires_in_seconds': '31',
      's0.u.expires_in_seconds': 'days',
      op: 'save',
    });
    expect([long.status, readFields(long.html)['s0.p.expires_in_seconds']]).toEqual([400, '31']);
    expect(long.html).toContain('Left empty: 3 days. At most 30 days');
  });

  it('changes between form and JSON without loss, and is saved from either', async () => {
    const fields = readFields((await browser.get(start('deploy-release'))).html);
    const asJson = await browser.post(NEW, { ...fields, op: 'json' }, { from: start() });
    const json = readFields(asJson.html);
    const template = TEMPLATES.find(({ key }) => key === 'deploy-release');
    expect(JSON.parse(json['json'] as string)).toMatchObject({ name: 'Deploy a release', actions: template?.draft.actions });
    const again = await browser.post(NEW, { ...json, op: 'form' }, { from: start() });
    expect(readFields(again.html)).toEqual(fields);
    const bad = await browser.post(NEW, { ...json, json: '{"name": ', op: 'save' }, { from: start() });
    expect([bad.status, bad.html.includes('Not valid JSON'), bad.html.includes('{&quot;name&quot;: ')]).toEqual([
      422,
      true,
      true,
    ]);
    const unknown = await browser.post(
      NEW,
      { ...json, json: '{"name":"x","trigger_type":"manual","gate":1}', op: 'save' },
      { from: start() },
    );
    expect(unknown.status).toBe(422);
    const saved = await browser.post(NEW, { ...json, op: 'save', is_active: 'yes' }, { from: start() });
    expect(await row(idIn(saved))).toMatchObject({ is_active: true, name: 'Deploy a release' });
  });

  it('keeps the chosen team when it is refused, also one that is closed to the user meanwhile', async () => {
    const other = await buildTeam(app);
    const seat = { team_id: other.team_id, user_id: team.member.user_id };
    await app.services.db('memberships').insert({ ...seat, role: 'member' });
    const fields = { ...readFields((await browser.get(start())).html), team_id: other.team_id, op: 'save' };
    const unnamed = await browser.post(NEW, { ...fields, name: ' ' }, { from: start() });
    expect([unnamed.status, readFields(unnamed.html)['team_id']]).toEqual([422, other.team_id]);
    const close = [
      ['guest', 'you cannot create automations here'],
      [null, 'A team you are not in'],
    ] as const;
    for (const [role, text] of close) {
      const member = app.services.db('memberships').where(seat);
      await (role === null ? member.delete() : member.update({ role }));
      const refused = await browser.post(NEW, { ...fields, name: 'Kept' }, { from: start() });
      expect([refused.status, readFields(refused.html)['team_id'], refused.html.includes(text)]).toEqual([
        403,
        other.team_id,
        true,
      ]);
      const edited = await browser.post(NEW, { ...fields, op: 'add', add_type: 'delay' }, { from: start() });
      expect(readFields(edited.html)['team_id']).toBe(other.team_id);
    }
    const nowhere = await browser.post(NEW, { ...fields, name: 'Kept', team_id: 'x' }, { from: start() });
    expect(nowhere.status).toBe(404);
    expect(await app.services.db('automations').where({ name: 'Kept' })).toEqual([]);
  });

  it('is not created in a team where the user may not write, nor without its token', async () => {
    const other = await buildTeam(app);
    const fields = { ...readFields((await browser.get(start())).html), name: 'X', op: 'save' };
    const foreign = await browser.post(NEW, { ...fields, team_id: other.team_id }, { from: start() });
    expect(foreign.status).toBe(403);
    expect((await browser.post(NEW, fields, { csrf: null })).status).toBe(403);
    const guest = await signIn(app, team.guest);
    expect((await guest.post(NEW, fields, { from: NEW })).status).toBe(403);
    expect(await app.services.db('automations').whereIn('team_id', [team.team_id, other.team_id])).toEqual([]);
    const personal = await guest.post(NEW, { ...fields, team_id: 'personal', 's0.p.role': '' }, { from: NEW });
    expect(await row(idIn(personal))).toMatchObject({ team_id: null, created_by: team.guest.user_id });
  });
});

describe('editing', () => {
  const pathOf = (id: string) => `/app/automations/${id}/edit`;
  const read = async (id: string) => readFields((await browser.get(pathOf(id))).html);

  it('saves a new version of what was changed, with a note', async () => {
    const id = await create(team.member, { description: 'Old', condition: 'true' });
    const fields = readFields((await browser.get(pathOf(id))).html);
    expect(fields).toMatchObject({ name: 'First', version: '1', 's0.p.seconds': '5', condition: 'true' });
    const same = await browser.post(pathOf(id), { ...fields, op: 'save' });
    expect([same.status, (await row(id)).version]).toEqual([303, 1]);
    const given = { ...fields, name: 'Second', condition: '', change_note: 'Shorter', op: 'save' };
    expect((await browser.post(pathOf(id), given)).headers.get('location')).toBe(`/app/automations/${id}`);
    expect(await row(id)).toMatchObject({ name: 'Second', condition: null, description: 'Old', version: 2, is_active: true });
    const version = await app.services.db('automation_versions').where({ automation_id: id, version: 2 }).first();
    expect(version).toMatchObject({ change_note: 'Shorter', actions_kept_from: [] });
    const [audit] = await app.services.db('audit_entries').where({ entity_id: id, action: 'update' });
    const details = typeof audit.details === 'string' ? JSON.parse(audit.details) : audit.details;
    expect(details.fields.toSorted()).toEqual(['change_note', 'condition', 'name']);
  });

  it('refuses an outdated version, keeps what was typed, and goes on when that was read', async () => {
    const id = await create(team.member);
    const fields = { ...readFields((await browser.get(pathOf(id))).html), name: 'Mine' };
    await app.as(team.manager).patch(`/api/automations/${id}`, { name: 'Theirs' });
    const stale = await browser.post(pathOf(id), { ...fields, op: 'save' });
    expect([stale.status, stale.html.includes('The automation is at version 2, not 1')]).toEqual([409, true]);
    expect(stale.html).toContain(`/versions?from=1&amp;to=2`);
    expect(readFields(stale.html)).toMatchObject({ name: 'Mine', version: '1' });
    const rebased = readFields((await browser.post(pathOf(id), { ...fields, op: 'rebase:2' })).html);
    expect(rebased).toMatchObject({ name: 'Mine', version: '2' });
    await browser.post(pathOf(id), { ...rebased, op: 'save' });
    expect(await row(id)).toMatchObject({ name: 'Mine', version: 3 });
  });

  it('says of a saved step that it went before its gate', async () => {
    const gate = { type: 'require_approval', params: { role: 'manager' } };
    const id = await create(team.member, { actions: [gate, { type: 'delay', params: { seconds: 5 } }] });
    const moved = readFields((await browser.post(pathOf(id), { ...(await read(id)), op: 'up:1' })).html);
    await browser.post(pathOf(id), { ...moved, op: 'save' });
    expect((await browser.get(`/app/automations/${id}`)).html).toMatch(
      /Saved as version 2\. Behind no gate now: step 1 \([^)]+\)\./,
    );
    await browser.post(pathOf(id), { ...(await read(id)), op: 'save', name: 'Renamed' });
    expect((await browser.get(`/app/automations/${id}`)).html).toContain('Saved as version 3.</span>');
  });

  it('is for those who may change it', async () => {
    const id = await create(team.manager);
    const other = await buildTeam(app);
    await givePasswords(app);
    for (const person of [team.member, team.guest, other.admin]) {
      const own = await signIn(app, person);
      expect((await own.get(pathOf(id))).status).toBe(403);
      const given = { name: 'X', trigger_type: 'manual', version: '1', op: 'save' };
      expect((await own.post(pathOf(id), given, { from: '/app' })).status).toBe(403);
    }
    expect((await browser.post(pathOf(await create(team.member)), { version: '1', op: 'save' }, { csrf: null })).status).toBe(
      403,
    );
    expect(await row(id)).toMatchObject({ name: 'First', version: 1 });
  });

  it('offers secrets by name to admins only, and puts the chosen one into its field', async () => {
    await app
      .as(team.admin)
      .post('/api/automations/secrets', { team_id: team.team_id, name: 'DEPLOY', value: 'hidden', allowed_hosts: ['a.example'] });
    const request = {
      type: 'http_request',
      params: { method: 'POST', url: 'https://a.example/', headers: { authorization: 'Bearer ' } },
    };
    const id = await create(team.admin, { actions: [request] });
    const admin = await signIn(app, team.admin);
    const { html } = await admin.get(pathOf(id));
    expect([html.includes('<option>DEPLOY</option>'), html.includes('hidden"')]).toEqual([true, true]);
    const fields = readFields(html);
    const answer = await admin.post(pathOf(id), { ...fields, op: 'secret:0' });
    expect(readFields(answer.html)['s0.p.headers'] ?? readFields(answer.html)['s0.j.headers']).toContain('{{secret:DEPLOY}}');
    const manager = await signIn(app, team.manager);
    expect((await manager.get(pathOf(id))).html).not.toContain('<option>DEPLOY</option>');
  });
});

it('offers the stages and custom fields of the team to an action that changes a task, by name', async () => {
  const named = { team_id: team.team_id, name: 'In QA', status: 'in_review' };
  const { stage_id } = (await app.as(team.manager).post('/api/stages', named)).body;
  const other = await buildTeam(app);
  await app.as(other.manager).post('/api/stages', { ...named, team_id: other.team_id, name: 'Secret stage' });
  await createField(app, team, 'select', { name: 'Severity', options: [{ value: 'p1', label: 'Very high' }, { value: 'p2' }] });
  await createField(app, team, 'number', { name: 'Points lost' });
  await createField(app, team, 'multi_select', { name: 'Areas' });
  await createField(app, other, 'text', { name: 'Secret field' });
  const added = await browser.post(
    NEW,
    { ...readFields((await browser.get(start())).html), add_type: 'update_task', op: 'add' },
    { from: start() },
  );
  // One select, as wherever a status is set.
  const choices = new RegExp(
    `<optgroup label="In review"><option value="in_review">In review</option><option value="${stage_id}">In QA<`,
  );
  expect(added.html).toMatch(choices);
  expect(added.html).not.toContain('f-s1.p.stage_id');
  expect(added.html).toMatch(/<select id="f-s1\.p\.custom_fields\.severity"[^]*?<option value="p1">Very high<\/option>/);
  expect(added.html).not.toContain('Secret');

  const params = {
    's1.p.status': stage_id,
    's1.p.custom_fields.severity': 'p1',
    's1.p.custom_fields.points_lost': '3',
    's1.p.custom_fields.areas': 'high\r\nlow',
  };
  const save = (more: object) =>
    browser.post(NEW, { ...readFields(added.html), ...params, ...more, name: 'Moves', op: 'save' }, { from: start() });
  const both = await save({ 's1.p.status': 'todo', 's1.p.stage_id': 'in qa' });
  const misfit = 'The stage “In QA” belongs to the status In review, but this sets To do';
  expect(both.status).toBe(400);
  expect(both.html).toMatch(new RegExp(`aria-describedby="h-s1.p.stage_id"[^]*?class="wrong">${misfit}`));
  const twice = await save({ 's1.p.stage_id': 'In QA' });
  expect([twice.status, twice.html.includes('Choose a stage once')]).toEqual([422, true]);
  const saved = await save({});
  expect(saved.status).toBe(303);
  const id = idIn(saved);
  expect((await row(id)).actions[1].params).toEqual({
    stage_id,
    custom_fields: { severity: 'p1', points_lost: 3, areas: ['high', 'low'] },
  });
  // The page of the automation, and the form again, say the same by name.
  expect((await browser.get(`/app/automations/${id}`)).html).toContain('In QA');
  const edit = `/app/automations/${id}/edit`;
  const again = readFields((await browser.get(edit)).html);
  expect(again).toMatchObject(params);
  expect((await browser.post(edit, { ...again, op: 'save' }, { from: edit })).status).toBe(303);
  expect((await row(id)).version).toBe(1);
});

it('sets the status of a task to a stage, which is saved as the action that changes fields', async () => {
  const named = { team_id: team.team_id, name: 'In QA', status: 'in_review' };
  const { stage_id } = (await app.as(team.manager).post('/api/stages', named)).body;
  const from = `${NEW}?team=${team.team_id}&template=close-on-merge`;
  const fields = { ...readFields((await browser.get(from)).html), 's1.p.status': stage_id };
  const id = idIn(await browser.post(NEW, { ...fields, op: 'save' }, { from }));
  const task_id = '{{event.task.task_id}}';
  expect((await row(id)).actions[1]).toMatchObject({ type: 'update_task', params: { task_id, stage_id } });
  const edit = `/app/automations/${id}/edit`;
  const again = readFields((await browser.get(edit)).html);
  expect(again).toMatchObject({ 's1.type': 'update_task', 's1.p.status': stage_id });
  // Another status takes the place of the stage.
  expect((await browser.post(edit, { ...again, 's1.p.status': 'todo', op: 'save' }, { from: edit })).status).toBe(303);
  expect((await row(id)).actions[1].params).toEqual({ task_id, status: 'todo' });
});

it('refuses a stage beside a status that contradicts it over the API, by the stages of now', async () => {
  const named = { team_id: team.team_id, name: 'In QA', status: 'in_review' };
  const { stage_id } = (await app.as(team.manager).post('/api/stages', named)).body;
  const as = app.as(team.member);
  const actions = (params: object) => [{ type: 'update_task', params }];
  const post = (params: object, more: object = {}) =>
    as.post('/api/automations', {
      team_id: team.team_id,
      name: 'x',
      trigger_type: 'task.created',
      ...more,
      actions: actions(params),
    });
  const message = 'actions[0].params.stage_id: The stage “In QA” belongs to the status In review, but this sets In progress';
  for (const given of [stage_id, ' in qa']) {
    expect(await post({ stage_id: given, status: 'in-progress' })).toMatchObject({ status: 400, body: { message } });
  }
  expect((await post({ stage_id, status: 'done', resolution: 'canceled' })).status).toBe(400);
  // What fits, what only a run knows, and what has no team is saved; a stage that does not exist yet is warned of.
  expect((await post({ stage_id, status: 'in_review' })).body.warnings).toEqual([]);
  expect((await post({ stage_id, status: '{{event.task.status}}' })).status).toBe(201);
  expect((await post({ stage_id, status: 'todo' }, { team_id: null })).status).toBe(201);
  const early = (await post({ stage_id: 'Ready', status: 'todo' })).body;
  expect(early.warnings).toEqual(['actions[0].params.stage_id: the team has no stage “Ready” yet']);
  const path = `/api/automations/${early.automation_id}`;
  expect(await as.patch(path, { actions: actions({ stage_id: 'In QA', status: 'in_progress' }) })).toMatchObject({
    status: 400,
    body: { message },
  });
  // An action that was saved before its stage came is no reason to refuse another change.
  await app.as(team.manager).post('/api/stages', { ...named, name: 'Ready' });
  expect((await as.patch(path, { name: 'y' })).status).toBe(200);
});

describe('a condition as rows', () => {
  const page = () => start('blank');
  const send = (fields: Record<string, string>) => browser.post(NEW, fields, { from: page() });
  const press = async (fields: Record<string, string>) => {
    const { status, html } = await send(fields);
    expect(status).toBe(200);
    return { html, fields: readFields(html) };
  };

  it('offers the stages and fields of the team by name, and keeps a value that is no longer one of them', async () => {
    // Without stages their names are a text, as in a personal automation.
    const none = { ...readFields((await browser.get(page())).html), trigger_type: 'task.stage_changed' };
    const typed = await press({ ...none, 'c0.field': 'event.task.stage', 'c0.value': 'Later', op: 'show' });
    expect(typed.fields['condition']).toBe('event.task.stage == "Later"');
    const named = { team_id: team.team_id, name: 'In QA', status: 'in_review' };
    const { stage_id } = (await app.as(team.manager).post('/api/stages', named)).body;
    const other = await buildTeam(app);
    await app.as(other.manager).post('/api/stages', { ...named, team_id: other.team_id, name: 'Secret stage' });
    const options = [{ value: 'p1', label: 'Very high' }, { value: 'p2' }];
    await createField(app, team, 'select', { name: 'Severity', options });
    await createField(app, team, 'multi_select', { name: 'Areas', options });
    const empty = { ...readFields((await browser.get(page())).html), trigger_type: 'task.stage_changed' };
    const stage = await press({ ...empty, 'c0.field': 'event.task.stage', op: 'show' });
    expect(stage.fields['condition']).toBe('event.task.stage == "In QA"');
    expect(stage.html).not.toContain('Secret stage');
    expect(stage.html).toContain('task › Severity');
    const field = { 'c0.field': 'event.task.custom_fields.severity', 'c0.comparison': 'is' };
    const severity = await press({ ...empty, ...field, op: 'show' });
    expect(severity.fields['condition']).toBe('event.task.custom_fields.severity == "p1"');
    expect(severity.html).toContain('>Very high</option>');
    expect(severity.html).not.toContain('Cannot be evaluated');
    const areas = { 'c0.field': 'event.task.custom_fields.areas', 'c0.comparison': 'contains', 'c0.value': 'Very high' };
    expect((await press({ ...empty, ...areas, op: 'show' })).fields['condition']).toBe('"p1" in event.task.custom_fields.areas');

    // A stage that is gone is not silently another one.
    await app.as(team.manager).post('/api/stages', { ...named, name: 'Ready' });
    expect((await app.as(team.manager).delete(`/api/stages/${stage_id}`)).status).toBe(200);
    const again = await press({ ...stage.fields, name: 'Any', op: 'show' });
    expect(again.fields).toMatchObject({ condition: 'event.task.stage == "In QA"', 'c0.value': 'In QA' });
    expect(again.html).toContain('Enter one of: Ready');
  });

  it('offers the choices of the custom field whose change is asked for, one or many', async () => {
    const options = [{ value: 'p1', label: 'Very high' }, { value: 'p2' }];
    await createField(app, team, 'select', { name: 'Severity', options });
    await createField(app, team, 'multi_select', { name: 'Areas', options });
    const empty = { ...readFields((await browser.get(page())).html), trigger_type: 'task.field_changed', 'c.join': 'all' };
    const key = { 'c0.field': 'event.field.key', 'c0.comparison': 'is', 'c0.value': 'severity' };
    const to = { 'c1.field': 'event.changes.value.to', 'c1.comparison': 'is', 'c1.value': '' };
    const one = await press({ ...empty, ...key, ...to, op: 'show' });
    expect(one.fields['condition']).toBe('event.field.key == "severity" && event.changes.value.to == "p1"');
    expect(one.html).toMatch(
      /<select id="f-c1.value"[^>]*><option value="p1" selected>Very high<\/option><option value="p2">p2</,
    );
    const areas = { 'c0.value': 'areas', 'c1.comparison': 'contains', 'c1.value': 'p2' };
    const many = await press({ ...one.fields, ...areas, op: 'show' });
    expect(many.fields['condition']).toBe('event.field.key == "areas" && "p2" in event.changes.value.to');
    expect(many.fields).toMatchObject({ 'c1.comparison': 'contains', 'c1.value': 'p2' });
    // The field of the task itself is the team's too, not that of the sample.
    const of = { 'c0.field': 'event.task.custom_fields.severity', 'c0.comparison': 'is', 'c0.value': '', 'c1.field': '' };
    const own = await press({ ...one.fields, ...of, op: 'show' });
    expect(own.fields['condition']).toBe('event.task.custom_fields.severity == "p1"');
    expect(own.html).toMatch(/<select id="f-c0.value"[^>]*><option value="p1" selected>Very high</);
    expect(own.html.match(/<option value="event\.task\.custom_fields\.severity"/g)).toHaveLength(2);
    expect(own.html).toContain('True for the sample of the trigger.');
    // Where any of the rows may hold, the value may be one of another field.
    const any = await press({ ...one.fields, 'c.join': 'any', op: 'show' });
    expect(any.fields['condition']).toBe('event.field.key == "severity" || event.changes.value.to == "p1"');
    const typed = await press({ ...empty, condition: many.fields['condition'] as string, op: 'show' });
    expect(typed.fields).toMatchObject({ 'c1.comparison': 'contains', 'c1.value': 'p2' });
    expect(typed.html).toContain('>new value</option>');
  });

  it('writes the text from what was chosen, adds rows, and checks the sample', async () => {
    const empty = readFields((await browser.get(page())).html);
    expect(empty).toMatchObject({ 'c0.field': '', 'c.join': 'all', condition: '' });
    expect(empty['c1.field']).toBeUndefined();
    const status = { 'c0.field': 'event.task.status', 'c0.value': 'done' };
    const one = await press({ ...empty, ...status, op: 'show' });
    expect(one.fields['condition']).toBe('event.task.status == "done"');
    expect(one.html).toContain('True for the sample of the trigger.');
    expect(one.html).toMatch(/<select id="f-c0.value"[^>]*><option value="todo">todo<\/option>/);
    const more = await press({ ...one.fields, op: 'row' });
    expect([one.fields['c1.field'], more.fields['c1.field'], more.fields['c2.field']]).toEqual([undefined, '', undefined]);
    const tag = { 'c1.field': 'event.task.tags', 'c1.comparison': 'lacks', 'c1.value': 'bug', 'c.join': 'any' };
    const saved = await send({ ...more.fields, ...tag, name: 'By rows', op: 'save' });
    expect((await row(idIn(saved))).condition).toBe('event.task.status == "done" || !("bug" in event.task.tags)');
    const edited = readFields((await browser.get(`/app/automations/${idIn(saved)}/edit`)).html);
    expect(edited).toMatchObject({ ...status, 'c1.field': 'event.task.tags', 'c1.comparison': 'lacks', 'c.join': 'any' });
  });

  it('says beside a row what is wrong, keeps it, and saves nothing', async () => {
    const wrong = { 'c0.field': 'event.task.version', 'c0.comparison': 'over', 'c0.value': 'two', name: 'Wrong', op: 'show' };
    const { html, fields } = await press({ ...readFields((await browser.get(page())).html), ...wrong });
    expect([fields['condition'], fields['c0.value'], html.includes('Enter a number')]).toEqual(['', 'two', true]);
    const refused = await send({ ...fields, op: 'save' });
    expect([refused.status, refused.html.includes('Enter a number')]).toEqual([422, true]);
    expect(await app.services.db('automations').where({ team_id: team.team_id })).toEqual([]);
  });

  it('follows an edited text, and leaves one alone that rows cannot express', async () => {
    const empty = readFields((await browser.get(page())).html);
    const typed = await press({ ...empty, condition: "task.priority in ['high', 'urgent']", op: 'show' });
    expect(typed.fields).toMatchObject({
      'c0.field': 'event.task.priority',
      'c0.comparison': 'one_of',
      'c0.value': 'high, urgent',
      condition: "task.priority in ['high', 'urgent']",
    });
    const free = 'size(event.task.tags) > 2';
    const text = await press({ ...typed.fields, 'c0.value': 'low', condition: free, op: 'show' });
    expect([text.fields['condition'], text.fields['c0.field']]).toEqual([free, undefined]);
    expect(text.html).toContain('rows cannot express this one');
    const saved = await send({ ...text.fields, name: 'By text', op: 'save' });
    expect((await row(idIn(saved))).condition).toBe(free);
    const cleared = await press({ ...typed.fields, condition: '', op: 'show' });
    expect(cleared.fields).toMatchObject({ condition: '', 'c0.field': '' });
  });

  it('changes no condition that is spelled otherwise by an edit of something else', async () => {
    const condition = 'task.status == "done"  &&  "bug" in task.tags';
    const id = await create(team.member, { condition });
    const path = `/app/automations/${id}/edit`;
    const fields = readFields((await browser.get(path)).html);
    await browser.post(path, { ...fields, name: 'Renamed', op: 'save' });
    expect(await row(id)).toMatchObject({ name: 'Renamed', condition, version: 2 });
    await browser.post(path, { ...readFields((await browser.get(path)).html), 'c1.field': '', op: 'save' });
    expect((await row(id)).condition).toBe('event.task.status == "done"');
  });
});

describe('the check of a condition', () => {
  const check = async (condition: string, trigger_type = 'task.created') =>
    (await browser.get(`/app/automations/condition?${new URLSearchParams({ condition, trigger_type }).toString()}`)).html;

  it('says whether it holds for the sample, and where a fault is', async () => {
    expect(await check('task.priority == "high"')).toContain('True for the sample');
    expect(await check('task.priority == "low"')).toContain('False for the sample');
    expect(await check('')).toContain('Without a condition every event starts it.');
    expect(await check('task.nothing == 1')).toContain('Cannot be evaluated on the sample: No such key');
    const fault = await check('has(event.task) && nobody == 1');
    expect(fault).toContain('Unknown variable: nobody');
    expect(fault).toContain('has(event.task) &amp;&amp; <mark>n</mark>obody == 1');
    // Positions count characters, not UTF-16 units.
    expect(await check('"🚀🚀" == nobody')).toContain('&quot;🚀🚀&quot; == <mark>n</mark>obody');
    expect((await check('x'.repeat(5_000))).length).toBeLessThan(40_000);
    expect(await check('true', 'no.such.trigger')).toContain('True for the sample');
  });
});

describe('templates', () => {
  it('are thirteen, each with its page', async () => {
    expect(TEMPLATES).toHaveLength(13);
    const { html } = await browser.get(`${NEW}?team=${team.team_id}`);
    for (const { key } of TEMPLATES) expect(html).toContain(`template=${key}"`);
  });

  it('one moves a task to a stage where the team has one within the status, and keeps it in sight for another team', async () => {
    for (const [name, status] of [
      ['Ready', 'done'],
      ['Code review', 'in_review'],
      ['In QA', 'in_review'],
    ])
      await app.as(team.manager).post('/api/stages', { team_id: team.team_id, name, status });
    const { stage_id } = (await app.as(team.guest).get(`/api/stages?team_id=${team.team_id}`)).body.find(
      (stage: { name: string }) => stage.name === 'Code review',
    );
    const from = start('review-on-pull-request');
    const { html } = await browser.get(from);
    expect(readFields(html)).toMatchObject({ 's0.type': 'update_task', 's0.p.status': stage_id });
    // Where a manager has the same form for another team, the choice does not go in silence.
    const personal = await browser.post(NEW, { ...readFields(html), team_id: 'personal', op: 'save' }, { from });
    expect([personal.status, personal.html.includes('A stage that the team does not have')]).toEqual([400, true]);
  });

  const SEVERITY = { name: 'Severity', options: [{ value: 'minor' }, { value: 'c1', label: 'Critical' }] };
  const WORST = 'event.field.key == "severity" && event.changes.value.to == "c1"';

  it('one waits for the most severe choice of a field of the team, and says where the team has none', async () => {
    const none = await browser.get(start('severe-tasks'));
    expect(none.html).toContain('“Raise severe tasks” needs a field of tasks');
    expect(none.html).toContain(
      `<a href="/app/teams/${team.team_id}/fields">See the fields of the team</a>; a manager can create one`,
    );
    const manager = await signIn(app, team.manager);
    expect((await manager.get(start('severe-tasks'))).html).toContain('>Create the field</a>, then');
    expect((await browser.get(`${NEW}?team=personal&template=severe-tasks`)).html).toContain('needs a field of a team');
    // Of several fields the one that is called so; of none, the first with choices.
    await createField(app, team, 'select', { name: 'Component', options: [{ value: 'api' }] });
    const component = readFields((await browser.get(start('severe-tasks'))).html);
    expect(component['condition']).toBe('event.field.key == "component" && event.changes.value.to == "api"');
    await createField(app, team, 'select', SEVERITY);
    const { html } = await browser.get(start('severe-tasks'));
    expect(readFields(html)).toMatchObject({ condition: WORST, 'c0.value': 'severity', 'c1.value': 'c1' });
    expect(html).toContain('True for the sample of the trigger.');
    const check = (condition: string, of = `team=${team.team_id}&`) =>
      browser.get(`/app/automations/condition?${of}trigger_type=task.field_changed&condition=${encodeURIComponent(condition)}`);
    expect((await check(WORST)).html).toContain('True for the sample');
    expect((await check(WORST.replace('c1', 's1'))).html).toContain('False for the sample');
    expect((await check('event.field.key == "component" && event.changes.text.to == "api"')).html).toContain(
      'True for the sample',
    );
    const stranger = await buildTeam(app);
    await createField(app, stranger, 'select', { name: 'Severity', options: [{ value: 'their-choice' }] });
    expect((await check(WORST, `team=${stranger.team_id}&`)).html).not.toContain('their-choice');
  });

  it('keeps open what was unfolded of a step, wherever the step goes', async () => {
    const fields = readFields((await browser.get(start('urgent-tasks'))).html);
    const opened = { ...fields, 's1.open': 'yes', op: 'up:1' };
    const again = readFields((await browser.post(NEW, opened, { from: start('urgent-tasks') })).html);
    expect([0, 1, 2].map((n) => again[`s${n}.open`])).toEqual(['yes', '', '']);
  });

  it.each(TEMPLATES.map(({ key, draft }) => [key, draft] as const))(
    '%s fills the builder, is created, and holds for its sample',
    async (key, draft) => {
      if (key === 'severe-tasks') await createField(app, team, 'select', SEVERITY);
      const fields = readFields((await browser.get(start(key))).html);
      // A call names no project, in which the task could be.
      if (key === 'outside-call') fields['project_id'] = (await buildProject(app, team)).project_id;
      const saved = await browser.post(NEW, { ...fields, op: 'save' }, { from: start(key) });
      expect([saved.status, saved.html]).toEqual([303, '']);
      const id = idIn(saved);
      const stored = await row(id);
      expect(stored).toMatchObject({
        name: draft.name,
        trigger_type: draft.trigger_type,
        condition: key === 'severe-tasks' ? WORST : draft.condition,
        is_active: false,
      });
      expect(stored.actions.map(({ type, params }: { type: string; params: object }) => ({ type, params }))).toEqual(
        draft.actions,
      );
      const dry = await browser.post(`/app/automations/${id}/dry-run`, { version: '1', event: 'sample' });
      const { status, html } = await browser.get(dry.headers.get('location') as string);
      expect([status, html.includes('The condition is true') || html.includes('every event starts it')]).toEqual([200, true]);
      // Every template has its value in the sample.
      expect(html).not.toContain('The event has no');
      expect(html.replaceAll(/\{\{secret:\w+\}\}/g, '')).not.toContain('{{event.');
      const { html: page } = await browser.get(`/app/automations/${id}`);
      expect(page).not.toMatch(/events of \S+ have no/);
    },
  );
});
