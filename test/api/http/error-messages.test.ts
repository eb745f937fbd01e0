import { buildTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';

// What callers read about a bad request: one sentence per field, in the words of this API and never those of a library.

let app: TestApp;
let team: Awaited<ReturnType<typeof buildTeam>>;
let place: { team_id: string };
let project: { project_id: string };
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  place = { team_id: team.team_id };
  const created = await app.as(team.member).post('/api/projects', { name: 'Apollo', ...place });
  project = { project_id: created.body.data.project_id };
});
afterAll(() => app.close());

const send = (path: string, body?: unknown) => {
  const [method, url] = path.split(' ') as ['get' | 'post' | 'patch' | 'put', string];
  const caller = app.as(team.admin);
  return method === 'get' ? caller.get(url) : caller[method](url, body);
};

const ME = 'patch /api/auth/me';
const TOKENS = 'post /api/auth/tokens';
const INVALID: [string, string, () => unknown, string][] = [
  ['missing', 'post /api/tasks', () => ({ ...project }), 'title is required'],
  ['null', 'post /api/tasks', () => ({ ...project, title: null }), 'title must be a string, not null'],
  ['empty', 'post /api/tasks', () => ({ ...project, title: ' ' }), 'title must not be empty'],
  ['of another type', 'post /api/tasks', () => ({ ...project, title: 7 }), 'title must be a string'],
  ['too long', 'post /api/tasks', () => ({ ...project, title: 'x'.repeat(201) }), 'title is longer than 200 characters'],
  ['an item', 'post /api/tasks', () => ({ ...project, title: 'x', tags: ['a', ''] }), 'tags[1] must not be empty'],
  [
    'too many',
    'post /api/tasks',
    () => ({ ...project, title: 'x', tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }),
    'tags must have at most 20 items',
  ],
  [
    'too large',
    'post /api/tasks',
    () => ({ ...project, title: 'x', estimated_hours: 1001 }),
    'estimated_hours must be at most 1000',
  ],
  ['negative', 'post /api/tasks', () => ({ ...project, title: 'x', estimated_hours: -1 }), 'estimated_hours must be at least 0'],
  ['no number', 'post /api/tasks', () => ({ ...project, title: 'x', estimated_hours: '1' }), 'estimated_hours must be a number'],
  [
    'outside an enum',
    'post /api/tasks',
    () => ({ ...project, title: 'x', status: 'doing' }),
    'status must be one of todo, in_progress, in_review, done',
  ],
  ['reserved', 'post /api/tasks', () => ({ ...project, title: 'x', task_id: 'bulk' }), 'task_id is reserved'],
  [
    'a rule',
    'post /api/tasks',
    () => ({ ...project, title: 'x', recurrence: { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'Mars' } }),
    'recurrence.timezone must be an IANA time zone, such as Europe/Berlin',
  ],
  ['no items', 'post /api/tasks/bulk', () => [], 'The body must have at least 1 item'],
  ['no array', 'post /api/tasks/bulk', () => ({}), 'The body must be an array'],
  ['no object', 'post /api/projects', () => [], 'The body must be an object'],
  [
    'a project',
    'post /api/projects',
    () => ({ ...place, name: 'x', status: 'open' }),
    'status must be one of active, archived, completed',
  ],
  ['a limit', 'get /api/projects?limit=0', () => undefined, 'limit must be at least 1'],
  ['a limit in words', 'get /api/projects?limit=ten', () => undefined, 'limit must be a whole number, 1 or more'],
  ['a negative offset', 'get /api/projects?offset=-1', () => undefined, 'offset must be a whole number, 0 or more'],
  ['a limit given twice', 'get /api/projects?limit=1&limit=2', () => undefined, 'limit is given more than once; send it once'],
  [
    'a filter given twice',
    'get /api/tasks?team_id=a&team_id=b',
    () => undefined,
    'team_id is given more than once; send it once',
  ],
  ['a filter', 'get /api/tasks?status=doing', () => undefined, 'status must be one of todo, in_progress, in_review, done'],
  ['a flag', 'post /api/tasks/bulk?atomic=maybe', () => [{}], 'atomic must be true, false, 1 or 0'],
  ['a member', 'post /api/teams', () => ({ name: 'x', member_ids: ['x'] }), 'member_ids[0] must be a UUID'],
  [
    'a role',
    `post /api/teams/:team/members`,
    () => ({ email: 'a@b.co', role: 'owner' }),
    'role must be one of guest, member, manager, admin',
  ],
  ['an address', `post /api/teams/:team/members`, () => ({ email: 'nobody' }), 'email must be an email address'],
  [
    'a preference',
    ME,
    () => ({ preferences: { week_start: 'noon' } }),
    'preferences.week_start must be one of monday, saturday, sunday',
  ],
  ['an avatar', ME, () => ({ avatar: 'http://x' }), 'avatar must be an https address'],
  ['a boolean', TOKENS, () => ({ name: 'x', scopes: ['tasks:read'], strict: 'yes' }), 'strict must be true or false'],
  [
    'an automation',
    'post /api/automations',
    () => ({ name: 'x', trigger_type: 'task.created', actions: [{ type: 'delay', on_failure: 'no' }] }),
    'actions[0].on_failure must be one of continue, stop',
  ],
];
it.each(INVALID)('says what is wrong with a field: %s', async (_name, path, body, message) => {
  const answer = await send(path.replace(':team', team.team_id), body());
  expect(answer.status).toBe(422);
  expect(answer.body.detail.errors.map((error: { message: string }) => error.message)).toContain(message);
  expect(answer.body.message).toMatch(/^(Invalid fields?: |The request body is invalid$)/);
});

it('names the invalid fields in the message, and says why in the detail', async () => {
  const two = await send('post /api/tasks', {});
  expect(two.body.message).toBe('Invalid fields: title, project_id');
  const many = await send('post /api/tasks', { title: 1, project_id: 1, description: 1, status: 1 });
  expect(many.body.message).toBe('Invalid fields: title, project_id, description and 1 more');
});

const gate = (params: object) => ({ type: 'require_approval', params });
const REFUSED: [string, string, () => unknown, string][] = [
  ['a date', 'post /api/tasks', () => ({ ...project, title: 'x', due_date: 'soon' }), 'due_date is not a valid date'],
  [
    'two dates',
    'post /api/projects',
    () => ({ ...place, name: 'x', start_date: 'soon', end_date: '2026-02-30' }),
    'start_date is not a valid date; end_date is not a valid date',
  ],
  ['a scope', TOKENS, () => ({ name: 'x', scopes: ['tasks:raed'] }), 'Unknown scope: tasks:raed'],
  [
    'a trigger',
    'post /api/automations',
    () => ({ name: 'x', trigger_type: 'task.creatd' }),
    'trigger_type: unknown trigger: task.creatd; did you mean task.created, ',
  ],
  [
    'an action',
    'post /api/automations',
    () => automation({ type: 'add_coment' }),
    'actions[0].type: unknown action: add_coment; did you mean add_comment, ',
  ],
  [
    'a parameter of a gate',
    'post /api/automations',
    () => automation({ type: 'delay', params: { seconds: 1 } }, gate({ expires_in_hours: 1 })),
    'actions[1].params.expires_in_hours: unknown; did you mean expires_in_seconds?',
  ],
  [
    'a parameter beside the type',
    'post /api/automations',
    () => automation({ type: 'add_comment', contnt: 'x' }),
    'actions[0].contnt: unknown; did you mean content?',
  ],
  [
    'a parameter like no other',
    'post /api/automations',
    () => automation({ type: 'delay', params: { seconds: 1, zzzzzzz: null } }),
    'actions[0].params.zzzzzzz: unknown; known: seconds',
  ],
  [
    'a value',
    'post /api/automations',
    () => automation({ type: 'delay', params: { seconds: 0 } }),
    'actions[0].params.seconds must be at least 1',
  ],
  ['a choice', 'post /api/automations', () => automation(gate({ role: 'owner' })), 'actions[0].params.role must be one of '],
  [
    'a missing value',
    'post /api/automations',
    () => automation({ type: 'add_comment' }),
    'actions[0].params.content is required',
  ],
  [
    'both of two',
    'post /api/automations',
    () => automation({ type: 'notify', params: { message: 'x' } }),
    'actions[0].params must have either user_ids or role',
  ],
];
const automation = (...actions: object[]) => ({ name: 'x', trigger_type: 'task.created', ...place, actions });
it.each(REFUSED)('says what is wrong with %s, a 400', async (_name, path, body, message) => {
  const answer = await send(path, body());
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  expect(answer.body.detail).not.toBe(answer.body.message);
});

it('lists the scopes beside an unknown one', async () => {
  const { body } = await send(TOKENS, { name: 'x', scopes: ['tasks:raed'] });
  expect(body.detail).toContain('tasks:read, tasks:write');
});

it('adds in the detail what the message does not say', async () => {
  for (const path of [
    'get /api/tasks/nope',
    'get /api/nope',
    'post /api/tasks/nope',
    'get /api/admin/users',
    'post /api/auth/logout',
  ]) {
    const { body } = await send(path, {});
    if (body.success === false) expect(body.detail).not.toBe(body.message);
  }
});
