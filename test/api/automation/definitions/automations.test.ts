import { availableActions } from '../../../../api/automation/actions/registry.js';
import { createField } from '../../../factories/custom-fields.js';
import { buildPerson, buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const NOBODY = '019a9f00-0000-7000-8000-000000000001';
const comment = { type: 'add_comment', params: { content: 'Seen: {{event.task.title}}' } };
const gate = { type: 'require_approval', params: { role: 'admin' } };
const given = (fields: Record<string, unknown> = {}) => ({
  name: 'On new work',
  trigger_type: 'task.created',
  team_id: team.team_id,
  actions: [comment],
  ...fields,
});
const create = (person: Person = team.member, fields: Record<string, unknown> = {}) =>
  app.as(person).post('/api/automations', given(fields));
const made = async (person?: Person, fields?: Record<string, unknown>) => {
  const answer = await create(person, fields);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body as { automation_id: string; version: number };
};
const path = (automation: { automation_id: string }) => `/api/automations/${automation.automation_id}`;
const findAudit = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');
const collectVersions = (automation: { automation_id: string }) =>
  app.services.db('automation_versions').where({ automation_id: automation.automation_id }).orderBy('version');

describe('POST /api/automations', () => {
  it('201 stores the definition, its first version and an audit entry', async () => {
    const { status, headers, body } = await create(team.member, {
      name: '  On new work ',
      condition: 'task.priority == "urgent"',
      actions: [
        comment,
        { type: 'set_task_status', status: 'in-progress', on_failure: 'stop', retry: { max_attempts: 2 } },
        gate,
      ],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'On new work',
      description: null,
      trigger_type: 'task.created',
      condition: 'task.priority == "urgent"',
      is_active: true,
      schedule_cron: null,
      schedule_timezone: 'UTC',
      team_id: team.team_id,
      project_id: null,
      version: 1,
      created_by: team.member.user_id,
      next_run_at: null,
      last_run_at: null,
      last_run_status: null,
      run_count: 0,
      failed_count: 0,
      disabled_reason: null,
      warnings: [],
    });
    expect(body.actions).toEqual([
      { ...comment, on_failure: 'continue' },
      { type: 'set_task_status', params: { status: 'in-progress' }, on_failure: 'stop', retry: { max_attempts: 2 } },
      { ...gate, on_failure: 'continue' },
    ]);
    const [version] = await collectVersions(body);
    expect(version).toMatchObject({ version: 1, name: 'On new work', actions: body.actions, changed_by: team.member.user_id });
    const [entry] = await findAudit(body.automation_id);
    expect(entry).toMatchObject({
      feature: 'automations',
      action: 'create',
      severity: 'MEDIUM',
      team_id: team.team_id,
      audit_id: headers.get('x-correlation-id'),
    });
    const { warnings: _warnings, ...record } = body;
    expect((await app.as(team.guest).get(path(body))).body).toEqual(record);
  });

  it('takes the team from the project, and belongs to the caller alone without both', async () => {
    expect((await create(team.member, { ...project, team_id: undefined })).body).toMatchObject({
      team_id: team.team_id,
      ...project,
    });
    const personal = await create(team.member, { team_id: null });
    expect(personal).toMatchObject({ status: 201, body: { team_id: null, project_id: null } });
    expect((await app.as(team.admin).get(path(personal.body))).status).toBe(403);
    expect((await app.as(team.admin).patch(path(personal.body), { name: 'Mine' })).status).toBe(403);
    expect((await app.as(team.member).get(path(personal.body))).status).toBe(200);
  });

  it('needs no actions and no condition', async () => {
    const { body } = await create(team.member, { actions: null, condition: '', is_active: null });
    expect(body).toMatchObject({ actions: [], condition: null, is_active: true });
  });

  it('warns admins of secrets that do not exist, and stores the handle', async () => {
    const { status, body } = await create(team.admin, {
      actions: [
        { type: 'add_comment', params: { content: 'Key {{secret:DEPLOY}} and {{secret:DEPLOY}} {{ secret:OTHER }}' } },
        { type: 'http_request', method: 'get', url: 'https://example.com/?{{secret:DEPLOY}}{{secret:DEPLOY}}{{ secret:OTHER }}' },
        { type: 'send_webhook', url: 'https://example.com/' },
      ],
    });
    expect(status).toBe(201);
    expect(body.warnings).toEqual([
      'actions[0]: add_comment does not support secrets',
      'Secret DEPLOY does not exist yet',
      'Secret OTHER does not exist yet',
      'Secret WEBHOOK_SIGNING_KEY does not exist yet',
    ]);
  });

  it('warns of a field, and of a choice of a field, that a condition names and the team does not have', async () => {
    const options = [{ value: 'critical', label: 'Critical!' }, { value: 'minor' }];
    await createField(app, team, 'select', { name: 'Severity', options });
    await createField(app, team, 'multi_select', { name: 'Areas', options });
    await createField(app, team, 'text', { name: 'Origin' });
    const stranger = await buildTeam(app);
    await createField(app, stranger, 'select', { name: 'Secret', options });
    const warn = async (condition: string, fields: object = {}) =>
      (await create(team.member, { trigger_type: 'task.field_changed', condition, ...fields })).body.warnings;
    const custom = 'event.task.custom_fields';
    for (const [condition, ...expected] of [
      ['event.field.key == "severity" && event.changes.value.to == "s1"', 'Severity has no choice “s1” (it has critical, minor)'],
      ['event.field.key == "severity" && "critical" != event.changes.value.to'],
      [
        'event.field.key == "severity" && event.changes.text.to in ["Critical!", "critical"]',
        'Severity has no choice “critical” (it has Critical!, minor)',
      ],
      ['event.field.key in ["severity", "origin"] && event.changes.value.to == "s1"'],
      ['event.changes.value.to == "s1"'],
      ['event.field.key == "secret" && event.changes.value.to == "s1"', 'the tasks of the team have no field “secret”'],
      [`"s1" in ${custom}.areas || ${custom}.severity == null`, 'Areas has no choice “s1” (it has critical, minor)'],
      [`${custom}.gone == "x" && task.custom_fields.origin == "y"`, 'the tasks of the team have no field “gone”'],
    ])
      expect([condition, await warn(condition as string)]).toEqual([condition, expected.map((text) => `condition: ${text}`)]);
    const of = { ...comment, if: `${custom}.severity == "major"` };
    expect(await warn('', { actions: [gate, of] })).toEqual([
      'actions[1].if: Severity has no choice “major” (it has critical, minor)',
    ]);
    expect(await warn('event.field.key == "severity"', { team_id: null })).toEqual([]);
  });

  it.each([
    ['an unknown trigger', { trigger_type: 'task.exploded' }, /trigger_type/],
    ['a schedule without its times', { trigger_type: 'schedule' }, /schedule_cron: required/],
    ['a bad condition, with the position', { condition: 'task.title == nope' }, /condition: .*at character 14/],
    ['a condition of no truth', { condition: '"yes"' }, /condition/],
    ['a bad time zone', { schedule_timezone: 'Mars/Olympus' }, /schedule_timezone/],
    ['an offset as time zone', { schedule_timezone: '+02:00' }, /schedule_timezone/],
    ['an abbreviation as time zone', { schedule_timezone: 'JST' }, /schedule_timezone/],
    [
      'one for a schedule',
      { trigger_type: 'schedule', schedule_cron: '* * * * *', schedule_timezone: 'PST' },
      /schedule_timezone: not an IANA time zone/,
    ],
    ['a time zone that only ICU knows', { schedule_timezone: 'SystemV/EST5' }, /schedule_timezone/],
    ['an unknown action', { actions: [comment, { type: 'fly' }] }, /actions\[1\]\.type: unknown action/],
    ['an inherited name as action', { actions: [{ type: 'constructor' }] }, /unknown action/],
    ['a missing parameter', { actions: [{ type: 'add_comment' }] }, /actions\[0\]\.params\.content/],
    ['a wrong parameter', { actions: [{ type: 'set_task_status', params: { status: 'later' } }] }, /params\.status/],
    ['a bad date', { actions: [{ type: 'create_task', title: 'x', due_date: '2026-02-30' }] }, /params\.due_date/],
    [
      'a broken template',
      { actions: [{ type: 'add_comment', params: { content: '{{event.' } }] },
      /params\.content.*at character 0/,
    ],
    ['code in a template', { actions: [{ type: 'add_comment', params: { content: '{{ process.env }}' } }] }, /params\.content/],
    ['a gate for guests', { actions: [{ type: 'require_approval', params: { role: 'guest' } }] }, /params\.role/],
    [
      'a gate whose role an event chooses',
      { actions: [{ type: 'require_approval', params: { role: '{{event.role}}' } }] },
      /params\.role/,
    ],
    [
      'a gate open for over 30 days',
      { actions: [{ type: 'require_approval', expires_in_seconds: 2_592_001 }] },
      /expires_in_seconds/,
    ],
    ['six approvals', { actions: [{ type: 'require_approval', required_approvals: 6 }] }, /required_approvals/],
    [
      'a personal gate for two',
      { team_id: null, actions: [{ type: 'require_approval', required_approvals: 2 }] },
      /its owner’s approval only/,
    ],
    [
      'a personal gate for others',
      { team_id: null, actions: [{ type: 'require_approval', allow_self_approval: false }] },
      /its owner’s approval only/,
    ],
  ])('400 refuses %s and writes nothing', async (_what, fields, message) => {
    const { status, body } = await create(team.member, fields);
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(body.message).toMatch(message);
    expect(await app.services.db('automations').where({ created_by: team.member.user_id })).toHaveLength(0);
  });

  it.each([
    ['no name', { name: undefined }],
    ['an empty name', { name: ' ' }],
    ['no trigger', { trigger_type: undefined }],
    ['51 actions', { actions: Array.from({ length: 51 }, () => comment) }],
    ['actions that are no list', { actions: comment }],
    ['six attempts', { actions: [{ ...comment, retry: { max_attempts: 6 } }] }],
    ['a strange on_failure', { actions: [{ ...comment, on_failure: 'explode' }] }],
  ])('422 refuses %s', async (_what, fields) => {
    expect((await create(team.member, fields)).status).toBe(422);
  });

  it('takes 50 actions, and templates wherever a value may stand', async () => {
    expect((await create(team.member, { actions: Array.from({ length: 50 }, () => comment) })).status).toBe(201);
    const params = {
      title: '{{event.title}}',
      status: '{{event.status}}',
      tags: ['bug', '{{event.label}}'],
      estimated_hours: '{{event.hours}}',
      due_date: '{{event.due}}',
      assigned_to: '{{event.actor_id}}',
    };
    expect((await create(team.member, { actions: [{ type: 'create_task', params }] })).body.actions[0].params).toEqual(params);
    expect(
      (await create(team.member, { actions: [{ type: 'create_task', params: { ...params, tags: '{{event.labels}}' } }] })).status,
    ).toBe(201);
    const message = { type: 'require_approval', params: { message: 'Close {{event.task.title}}?' } };
    expect((await create(team.member, { actions: [message] })).status).toBe(201);
  });

  it('rejects parameters that the action does not know', async () => {
    const { status, body } = await create(team.member, {
      actions: [comment, { ...comment, params: { ...comment.params, contents: 'x', version: 3 } }],
    });
    expect([status, body.message]).toEqual([400, 'actions[1].params.contents: unknown; did you mean content?']);
  });

  it('takes null for absent, save where it clears a field of a task', async () => {
    const stored = async (type: string, params: object) =>
      (await create(team.member, { actions: [{ type, params }] })).body.actions?.[0].params as unknown;
    expect(await stored('require_approval', { role: null, message: null, remind_after_seconds: null })).toEqual({});
    expect(await stored('set_task_status', { task_id: null, status: 'done' })).toEqual({ status: 'done' });
    expect(await stored('notify', { user_ids: null, role: 'member', message: 'x', channel: null })).toEqual({
      role: 'member',
      message: 'x',
    });
    expect(await stored('create_task', { title: 'x', project_id: null, due_date: null })).toEqual({ title: 'x' });
    expect(await stored('update_task', { task_id: null, due_date: null, assigned_to: null })).toEqual({
      due_date: null,
      assigned_to: null,
    });
    expect(await stored('assign_task', { task_id: null, assigned_to: null })).toEqual({ assigned_to: null });
    const refused = async (action: object) => (await create(team.member, { actions: [action] })).body.message;
    expect(await refused({ type: 'set_task_status', status: null })).toMatch(/params\.status/);
    expect(await refused({ type: 'update_task', title: null })).toMatch(/params\.title/);
    expect(await refused({ type: 'assign_task', assigned_to: undefined })).toMatch(/params\.assigned_to/);
  });

  it('403 refuses guests and strangers, 404 unknown places, 400 a project of another team', async () => {
    expect((await create(team.guest)).status).toBe(403);
    expect((await create(team.guest, { ...project, team_id: undefined })).status).toBe(403);
    expect((await create(await buildPerson(app))).status).toBe(403);
    expect((await create(team.member, { team_id: NOBODY })).status).toBe(404);
    expect((await create(team.member, { team_id: 'garbage' })).status).toBe(404);
    expect((await create(team.member, { project_id: 'garbage' })).status).toBe(404);
    const trashed = await buildProject(app, team, { deleted_at: new Date() });
    expect((await create(team.member, trashed)).status).toBe(404);
    const other = await buildTeam(app);
    expect((await create(team.member, { project_id: (await buildProject(app, other)).project_id })).status).toBe(403);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
    expect((await create(team.member, { project_id: (await buildProject(app, other)).project_id })).status).toBe(400);
  });

  it('holds the limit of 1,000 a team, also when two race for the last place', async () => {
    const row = {
      name: 'x',
      trigger_type: 'manual',
      team_id: team.team_id,
      created_by: team.admin.user_id,
      updated_by: team.admin.user_id,
    };
    await app.services.db.batchInsert(
      'automations',
      Array.from({ length: 999 }, () => row),
      500,
    );
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
  });
});

describe('GET /api/automations', () => {
  it('lists what the caller can see, oldest first, by team and by project; a foreign one is empty', async () => {
    const first = await made(team.member);
    const second = await made(team.admin, project);
    const personal = await made(team.member, { team_id: null });
    const ids = async (person: Person, query = '') =>
      (await app.as(person).get(`/api/automations${query}`)).body.map((row: { automation_id: string }) => row.automation_id);
    expect(await ids(team.member)).toEqual([first, second, personal].map(({ automation_id }) => automation_id));
    expect(await ids(team.guest)).toEqual([first.automation_id, second.automation_id]);
    expect(await ids(team.member, `?team_id=${team.team_id}`)).toEqual([first.automation_id, second.automation_id]);
    expect(await ids(team.member, `?project_id=${project.project_id}`)).toEqual([second.automation_id]);
    const stranger = await buildPerson(app);
    expect(await ids(stranger, `?team_id=${team.team_id}`)).toEqual([]);
    expect(await ids(stranger, `?project_id=${project.project_id}`)).toEqual([]);
    expect(await ids(team.member, '?team_id=garbage')).toEqual([]);
  });

  it('403 for strangers, 404 for unknown and malformed ids', async () => {
    const automation = await made();
    expect((await app.as(await buildPerson(app)).get(path(automation))).status).toBe(403);
    expect((await app.as(team.member).get(`/api/automations/${NOBODY}`)).status).toBe(404);
    expect((await app.as(team.member).get('/api/automations/garbage')).status).toBe(404);
  });
});

describe('PATCH and PUT /api/automations/:automation_id', () => {
  it('200 changes the fields present and keeps every save as a version', async () => {
    const automation = await made(team.member, { description: 'Old' });
    const { status, body } = await app.as(team.member).patch(path(automation), {
      name: 'Renamed',
      actions: [comment, gate],
      is_active: false,
      version: 1,
      change_note: 'Ask first',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Renamed',
      description: 'Old',
      is_active: false,
      version: 2,
      updated_by: team.member.user_id,
    });
    const versions = await collectVersions(automation);
    expect(versions).toMatchObject([
      { version: 1, name: 'On new work', change_note: null },
      { version: 2, name: 'Renamed', change_note: 'Ask first' },
    ]);
    expect(versions[0].actions).toHaveLength(1);
    const [, entry] = await findAudit(automation.automation_id);
    expect(entry).toMatchObject({ action: 'update', severity: 'MEDIUM' });
    expect(JSON.parse(entry.details)).toMatchObject({
      version: 2,
      is_active: false,
      fields: ['name', 'actions', 'is_active', 'change_note'],
    });
  });

  it('PUT puts back to the default what is left out, and keeps the team', async () => {
    const automation = await made(team.member, { ...project, description: 'Old', condition: 'true', is_active: false });
    const { status, body } = await app.as(team.member).put(path(automation), { name: 'New', trigger_type: 'manual' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'New',
      trigger_type: 'manual',
      description: null,
      condition: null,
      actions: [],
      is_active: true,
      team_id: team.team_id,
      project_id: null,
      version: 2,
    });
    expect((await app.as(team.member).put(path(automation), { name: 'New' })).status).toBe(422);
  });

  it('409 refuses a stale version and leaves no trace; one of 20 racing writers wins', async () => {
    const automation = await made();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => app.as(team.member).patch(path(automation), { name: `w${i}`, version: 1 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    expect(await collectVersions(automation)).toHaveLength(2);
    expect(await findAudit(automation.automation_id)).toHaveLength(2);
  });

  it('409 switches no version but the one that was seen', async () => {
    const automation = await made(team.member, { is_active: false });
    const toggle = (version: number) => app.as(team.member).post(`${path(automation)}/toggle`, { is_active: true, version });
    await app.as(team.member).patch(path(automation), { name: 'Renamed' });
    const refused = await toggle(1);
    expect([refused.status, refused.body.message]).toEqual([409, 'The automation is at version 2, not 1']);
    expect((await toggle(2)).body).toMatchObject({ is_active: true });
  });

  it('400 refuses what creation refuses, another team, and a project of another team', async () => {
    const automation = await made();
    const member = app.as(team.member);
    const other = await buildTeam(app);
    for (const fields of [
      { trigger_type: 'schedule' },
      { condition: '1 +' },
      { actions: [{ type: 'fly' }] },
      { team_id: other.team_id },
    ]) {
      expect((await member.patch(path(automation), fields)).status).toBe(400);
    }
    const foreign = await buildProject(app, other);
    expect((await member.patch(path(automation), foreign)).status).toBe(403);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
    expect((await member.patch(path(automation), foreign)).status).toBe(400);
    expect((await member.patch(path(automation), { project_id: NOBODY })).status).toBe(404);
    expect((await member.patch(path(automation), { team_id: team.team_id, ...project })).body).toMatchObject({
      version: 2,
      ...project,
    });
    expect((await member.patch(path(automation), { name: null })).status).toBe(422);
  });

  it('lets members change their own and managers anyone’s; guests, strangers and other members get 403', async () => {
    const automation = await made(team.member);
    expect((await app.as(team.manager).patch(path(automation), { name: 'By the manager' })).body).toMatchObject({
      created_by: team.member.user_id,
      updated_by: team.manager.user_id,
    });
    const colleague = await buildPerson(app);
    await app.services.db('memberships').insert({ team_id: team.team_id, user_id: colleague.user_id, role: 'member' });
    for (const person of [colleague, team.guest, await buildPerson(app)]) {
      expect((await app.as(person).patch(path(automation), { name: 'No' })).status).toBe(403);
      expect((await app.as(person).put(path(automation), { name: 'No', trigger_type: 'manual' })).status).toBe(403);
      expect((await app.as(person).delete(path(automation))).status).toBe(403);
    }
    await app.services.db('memberships').where({ user_id: team.member.user_id }).update({ role: 'guest' });
    expect((await app.as(team.member).patch(path(automation), { name: 'No longer' })).status).toBe(403);
    expect(await collectVersions(automation)).toHaveLength(2);
  });
});

describe('catalogues', () => {
  it('lists every trigger with a sample', async () => {
    const { status, body } = await app.as(team.guest).get('/api/automations/triggers');
    expect(status).toBe(200);
    expect(body.triggers).toHaveLength(29 + 12 + 3 + 3);
    const trigger = (key: string) => body.triggers.find((entry: { key: string }) => entry.key === key);
    expect(trigger('forge.pull_request')).toMatchObject({
      available: true,
      sample_payload: { type: 'forge.pr_opened', pr_number: 12 },
    });
    expect(trigger('schedule')).toMatchObject({ available: true, sample_payload: { scheduled_for: expect.any(String) } });
    expect(body.triggers.filter(({ available }: { available: boolean }) => !available)).toEqual([]);
    expect(trigger('task.completed').sample_payload).toMatchObject({
      task: { status: 'done' },
      changes: { status: { to: 'done' } },
    });
  });

  it('lists every action with the schema of its parameters', async () => {
    const { status, body } = await app.as(team.guest).get('/api/automations/actions/types');
    expect(status).toBe(200);
    const action = (type: string) => body.actions.find((entry: { type: string }) => entry.type === type);
    expect(body.actions.map(({ type }: { type: string }) => type)).toEqual(availableActions().map(({ type }) => type));
    expect(action('create_task')).toMatchObject({
      category: 'core',
      integration: null,
      connected: true,
      available: true,
      missing_scopes: [],
      params_schema: { type: 'object', required: ['title'] },
    });
    expect(action('add_comment').params_schema.required).toEqual(['content']);
    expect(action('require_approval')).toMatchObject({ available: true, params_schema: { required: [] } });
    expect(action('http_request')).toMatchObject({ available: true, params_schema: { required: ['method', 'url'] } });
    expect(action('dispatch_runner_job')).toMatchObject({ available: true, params_schema: { required: ['command'] } });
    expect(action('run_agent')).toMatchObject({ available: true, params_schema: { required: ['instruction'] } });
    expect(action('forge_comment')).toMatchObject({
      category: 'integration',
      integration: 'forge',
      connected: false,
      available: false,
    });
  });
});
