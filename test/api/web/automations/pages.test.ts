import { buildRun, GATED } from '../../../factories/runs.js';
import { buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Browser, givePasswords, signIn } from '../browser.js';

// The list of automations and the page of one, as a browser without scripts uses them.

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
});

const COMMENT = { type: 'add_comment', params: { content: 'Hello' } };
const GATE = { type: 'require_approval', params: { role: 'admin', message: 'Close it?', allow_self_approval: false } };
const STATUS = { type: 'set_task_status', name: 'Close the task', params: { status: 'done' } };

async function create(person: Person, fields: Record<string, unknown> = {}): Promise<string> {
  const definition = {
    name: 'Close on merge',
    team_id: team.team_id,
    trigger_type: 'task.updated',
    actions: [COMMENT, GATE, STATUS],
  };
  const answer = await app.as(person).post('/api/automations', { ...definition, ...fields });
  expect(answer.status).toBe(201);
  return answer.body.automation_id;
}
const row = (automation_id: string) => app.services.db('automations').where({ automation_id }).first();
const pathOf = (id: string) => `/app/automations/${id}`;
/** What a page offers, by the end of the addresses of its forms and links. */
const offers = (html: string, id: string): string[] =>
  ['edit', 'dry-run', 'toggle', 'run', 'take-over', 'delete'].filter((verb) =>
    new RegExp(`(?:href|action)="${pathOf(id)}/${verb}["#]`).test(html),
  );

describe('the list', () => {
  it('shows trigger, who approves what, state and last run; a team filters it', async () => {
    const id = await create(team.member);
    const personal = await app.as(team.member).post('/api/automations', { name: 'Mine', trigger_type: 'manual' });
    await buildRun(app, team, { automation: { automation_id: id } });
    const browser = await signIn(app, team.member);
    const { html } = await browser.get('/app/automations');
    expect(html).toContain(`href="${pathOf(id)}"`);
    expect(html).toContain('A task is changed in any way, custom fields apart');
    expect(html).toMatch(/Without approval<\/b>: Comment on a task/);
    expect(html).toMatch(/After approval by an admin<\/b>: Close the task/);
    expect(html).toContain('Waiting');
    expect(html).toContain(pathOf(personal.body.automation_id));
    const ofTeam = (await browser.get(`/app/automations?team=${team.team_id}`)).html;
    expect([ofTeam.includes(pathOf(id)), ofTeam.includes(pathOf(personal.body.automation_id))]).toEqual([true, false]);
  });

  it('pages, and shows nothing of other teams', async () => {
    const other = await buildTeam(app);
    const foreign = await app
      .as(other.member)
      .post('/api/automations', { name: 'Secret', team_id: other.team_id, trigger_type: 'manual' });
    for (let nth = 0; nth < 51; nth += 1) await create(team.member, { name: `Number ${nth}`, actions: [] });
    const browser = await signIn(app, team.guest);
    const first = (await browser.get(`/app/automations?team=${other.team_id}`)).html;
    expect(first).not.toContain(foreign.body.automation_id);
    expect([first.includes('Number 49'), first.includes('Number 50')]).toEqual([true, false]);
    expect(first).toContain('New automation');
    expect((await browser.get(`/app/automations?team=${team.team_id}`)).html).not.toContain('New automation');
    const next = /href="(\/app\/automations\?before=[^"]+)" rel="next"/.exec(first)?.[1] as string;
    const second = (await browser.get(next)).html;
    expect([second.includes('Number 50'), second.includes('Number 49')]).toEqual([true, false]);
    const own = await buildTeam(app);
    await givePasswords(app);
    const stranger = await signIn(app, own.member);
    expect((await stranger.get(`/app/automations?before=${foreign.body.automation_id}`)).status).toBe(422);
  });
});

describe('the page', () => {
  it('tells the steps in words, names ids, and leads to its runs', async () => {
    const assign = { type: 'assign_task', params: { assigned_to: team.manager.user_id } };
    const id = await create(team.member, { condition: "event.task.status == 'done'", actions: [COMMENT, GATE, assign] });
    const run = await buildRun(app, team, { automation: { automation_id: id } });
    const { html } = await (await signIn(app, team.guest)).get(pathOf(id));
    expect(html).toContain(
      'only if <bdi>task › status is done</bdi> <small class="aside"><code>event.task.status == &#39;done&#39;</code></small>',
    );
    expect(html).toContain('Close it?');
    expect(html).toContain(
      'Waits for approval by <strong>an admin</strong>, for 3 d at most. Nobody behind the run may approve it.',
    );
    const { display_name } = await app.services.db('users').where({ user_id: team.manager.user_id }).first();
    expect(html).toContain(`<bdi>${display_name}</bdi>`);
    expect(html).toContain(`href="/app/runs/${run.run_id}"`);
  });

  it('says that a change of a task starts the automation again, unless the condition asks what changed', async () => {
    const update = { type: 'update_task', params: { task_id: '{{event.task.task_id}}', priority: 'urgent' } };
    const browser = await signIn(app, team.manager);
    const shown = async (condition: string) => {
      const id = await create(team.manager, { trigger_type: 'task.updated', condition, actions: [update] });
      return (await browser.get(pathOf(id))).html.includes('ts own change starts this automation again');
    };
    expect([await shown('event.task.status == "done"'), await shown('has(event.changes.due_date)')]).toEqual([true, false]);
  });

  it('offers what its reader may do, as the operations judge it', async () => {
    const id = await create(team.manager, { trigger_type: 'manual' });
    const seen: Record<string, string[]> = {};
    for (const name of ['guest', 'member', 'manager', 'admin'] as const) {
      seen[name] = offers((await (await signIn(app, team[name])).get(pathOf(id))).html, id);
    }
    const all = ['edit', 'dry-run', 'toggle', 'run', 'delete'];
    expect(seen).toEqual({
      guest: [],
      member: [],
      manager: all,
      admin: ['edit', 'dry-run', 'toggle', 'run', 'take-over', 'delete'],
    });
    await app.as(team.admin).patch(`/api/automations/${id}`, { is_protected: true });
    expect(offers((await (await signIn(app, team.manager)).get(pathOf(id))).html, id)).toEqual(['dry-run', 'run']);
  });

  it('is closed to strangers, with every form of it', async () => {
    const id = await create(team.member);
    const other = await buildTeam(app);
    await givePasswords(app);
    const stranger = await signIn(app, other.admin);
    for (const path of [pathOf(id), `${pathOf(id)}/versions`]) expect((await stranger.get(path)).status).toBe(403);
    for (const [verb, fields] of FORMS) {
      await stranger.post(`${pathOf(id)}/${verb}`, fields, { from: '/app' });
    }
    expect(await row(id)).toMatchObject({ is_active: true, version: 1, deleted_at: null, created_by: team.member.user_id });
    expect(await app.services.db('automation_runs').where({ automation_id: id })).toEqual([]);
    expect((await stranger.get('/app/automations/nothing')).status).toBe(404);
  });

  it('refuses forms without their token', async () => {
    const id = await create(team.member);
    const browser = await signIn(app, team.member);
    for (const [verb, fields] of FORMS) {
      expect([verb, (await browser.post(`${pathOf(id)}/${verb}`, fields, { csrf: null })).status]).toEqual([verb, 403]);
    }
    expect(await row(id)).toMatchObject({ is_active: true, version: 1, deleted_at: null });
  });
});

const FORMS: [string, Record<string, string>][] = [
  ['toggle', { state: 'off', version: '1' }],
  ['run', { version: '1' }],
  ['roll-back', { version: '1' }],
  ['take-over', { version: '1', back: '/app' }],
  ['delete', {}],
];

describe('its buttons', () => {
  const press = (browser: Browser, id: string, verb: string, fields: Record<string, string> = {}) =>
    browser.post(`${pathOf(id)}/${verb}`, fields, { from: pathOf(id) });

  it('disables and enables, twice without effect; a member only their own', async () => {
    const id = await create(team.member);
    const member = await signIn(app, team.member);
    for (const [state, is_active] of [
      ['off', false],
      ['off', false],
      ['on', true],
    ] as const) {
      expect((await press(member, id, 'toggle', { state, version: '1' })).status).toBe(303);
      expect(await row(id)).toMatchObject({ is_active, version: 1 });
    }
    const foreign = await create(team.manager);
    await press(member, foreign, 'toggle', { state: 'off', version: '1' });
    expect((await member.get(pathOf(foreign))).html).toContain('Requires the manager role');
    expect(await row(foreign)).toMatchObject({ is_active: true });
    const audit = await app.services.db('audit_entries').where({ entity_id: id, action: 'toggle' });
    expect(audit).toHaveLength(3);
  });

  it('disables with the runs that wait, runs now, and deletes', async () => {
    const id = await create(team.member, { trigger_type: 'manual', actions: GATED });
    const waiting = await buildRun(app, team, { automation: { automation_id: id } });
    const member = await signIn(app, team.member);
    await press(member, id, 'toggle', { state: 'off', cancel_running: 'yes', version: '1' });
    const status = async (run_id: string) => (await app.services.db('automation_runs').where({ run_id }).first()).status;
    expect(await status(waiting.run_id)).toBe('cancelled');
    const started = await press(member, id, 'run', { version: '1' });
    const run_id = started.headers.get('location')?.slice('/app/runs/'.length) as string;
    expect(await app.services.db('automation_runs').where({ run_id }).first()).toMatchObject({
      automation_id: id,
      is_test: false,
      triggered_by: team.member.user_id,
    });
    expect((await press(member, id, 'delete')).headers.get('location')).toBe('/app/automations');
    expect((await member.get(pathOf(id))).status).toBe(404);
    expect((await member.get(`/app/runs/${run_id}`)).html).not.toContain(`href="${pathOf(id)}"`);
  });

  it('switches and runs the version that was shown, not a later one', async () => {
    const id = await create(team.member, { trigger_type: 'manual', is_active: false });
    const member = await signIn(app, team.member);
    const shown = (await member.get(pathOf(id))).html;
    expect(shown.match(/name="version" value="1"/g)).toHaveLength(2);
    await app.as(team.manager).patch(`/api/automations/${id}`, { actions: [STATUS] });
    await press(member, id, 'toggle', { state: 'on', version: '1' });
    expect((await member.get(pathOf(id))).html).toContain('The automation is at version 2, not 1');
    expect((await press(member, id, 'run', { version: '1' })).status).toBe(409);
    expect(await row(id)).toMatchObject({ is_active: false, version: 2 });
    expect(await app.services.db('automation_runs').where({ automation_id: id })).toEqual([]);
    await press(member, id, 'toggle', { state: 'on', version: '2' });
    expect(await row(id)).toMatchObject({ is_active: true });
  });

  it('takes over with the version that was seen, not with an older one', async () => {
    const id = await create(team.member);
    const manager = await signIn(app, team.manager);
    await app.as(team.member).patch(`/api/automations/${id}`, { name: 'Renamed' });
    await press(manager, id, 'take-over', { version: '1', back: pathOf(id) });
    expect(await row(id)).toMatchObject({ created_by: team.member.user_id, version: 2 });
    expect((await manager.get(pathOf(id))).html).toContain('The automation is at version 2, not 1');
    await press(manager, id, 'take-over', { version: '2', back: pathOf(id) });
    expect(await row(id)).toMatchObject({ created_by: team.manager.user_id, version: 3 });
  });
});

describe('versions', () => {
  it('shows what differs between any two, word by word, and restores one', async () => {
    const id = await create(team.member);
    const member = app.as(team.member);
    const changed = [{ ...COMMENT, params: { content: 'Hello all' } }, STATUS];
    await member.patch(`/api/automations/${id}`, { actions: changed, condition: 'true', change_note: 'Without the gate' });
    await member.patch(`/api/automations/${id}`, { actions: [STATUS, ...changed], name: 'Again' });
    const browser = await signIn(app, team.member);
    const path = `${pathOf(id)}/versions`;
    const first = (await browser.get(`${path}?from=1&to=2`)).html;
    expect(first).toContain('From version 1 to 2');
    expect(first).toContain('Without the gate');
    expect(first).toMatch(/<ins><span class="unseen">added: <\/span> all<\/ins>/);
    const kinds = (html: string) => [...html.matchAll(/<li class="(same|changed|added|removed)">/g)].map(([, kind]) => kind);
    expect(kinds(first)).toEqual(['changed', 'removed', 'same']);
    expect(kinds((await browser.get(`${path}?from=2&to=3`)).html)).toEqual(['added', 'same', 'same']);
    expect(kinds((await browser.get(`${path}?from=3&to=2`)).html)).toEqual(['removed', 'same', 'same']);
    expect((await browser.get(path)).html).toContain('From version 2 to 3');
    expect((await browser.get(`${path}?from=9&to=3`)).status).toBe(404);
    expect((await browser.post(`${pathOf(id)}/roll-back`, { version: '1' }, { from: path })).status).toBe(303);
    expect(await row(id)).toMatchObject({ version: 4, name: 'Close on merge' });
    expect((await browser.get(`${path}?from=1&to=4`)).html).toContain('Both versions do the same.');
  });
});
