import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { buildPerson, leave, type Person, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
beforeAll(async () => {
  app = await startApp({ OUTBOUND_LOOPBACK: 'allow' });
  receiver = await startReceiver();
});
afterAll(async () => {
  receiver.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  receiver.received.length = 0;
  receiver.answer((_request, response) => response.end('ok'));
});

const VALUE = 'plaintext-of-the-secret';
const db = () => app.services.db;
/** `hosts` absent: the stored ones stay; a new secret then has none, and only admins may use it. */
const store = async (name: string, hosts?: string[], value = VALUE): Promise<void> => {
  const body = { team_id: team.team_id, name, value, ...(hosts ? { allowed_hosts: hosts } : {}) };
  expect((await app.as(team.admin).post('/api/automations/secrets', body)).status).toBe(200);
};
const remove = (name: string) => app.as(team.admin).delete(`/api/automations/secrets/${name}?team_id=${team.team_id}&force=true`);
/** The receiver's host with its port, as a pattern. */
const here = (): string => new URL(receiver.url).host;
const sending = (params: Record<string, unknown> = {}) => ({
  type: 'http_request',
  params: { method: 'POST', url: `${receiver.url}/collect`, body: '{{secret:KEY}}', ...params },
  retry: { max_attempts: 1 },
});
const withoutRedaction = { type: 'http_request', params: { method: 'GET', url: 'https://example.com/' } };

const create = (person: Person, actions: object[], more: object = {}) =>
  app.as(person).post('/api/automations', { name: 'Tell', trigger_type: 'manual', team_id: team.team_id, actions, ...more });
const made = async (person: Person, actions: object[], more: object = {}) => {
  const answer = await create(person, actions, more);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return { automation_id: answer.body.automation_id as string, path: `/api/automations/${answer.body.automation_id}` };
};
/** A run of the newest version, at its first action. */
const begin = (automation: { automation_id: string }, creator: Person, fields: Record<string, unknown> = {}) =>
  buildRun(app, team, { automation, creator, status: 'running', statuses: ['pending', 'pending', 'pending'], fields });
const act = ({ run_id }: { run_id: string }, index = 0) =>
  performOutbound(app.services, { runId: run_id, incarnation: 1, execution: 'an-execution' }, index);
const getStep = ({ run_id }: { run_id: string }, index = 0) => db()('run_actions').where({ run_id, index }).first();
/** What becomes of one action of such an automation: its error's code, or `succeeded`. */
async function outcome(
  automation: { automation_id: string },
  creator: Person,
  fields?: Record<string, unknown>,
): Promise<string> {
  const run = await begin(automation, creator, fields);
  await act(run);
  const { status, error } = await getStep(run);
  return error?.code ?? status;
}
const setRole = ({ user_id }: Person, role: string) =>
  db()('memberships').where({ team_id: team.team_id, user_id }).update({ role });
const sweep = () => expect(JSON.stringify(receiver.received)).not.toContain(VALUE);
const audited = async () => {
  const rows = await db()('audit_entries').where({ team_id: team.team_id, feature: 'secrets' }).orderBy('audit_id');
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) }));
};
const reads = async () => (await audited()).filter(({ action }) => action === 'read');

const REFUSAL = {
  status: 403,
  body: {
    error_code: 'PERMISSION_DENIED',
    message: 'The secret KEY has no allowed hosts: requires the admin role in the team',
  },
};

describe('a secret without allowed hosts', () => {
  it('is saved into a definition by team admins only, wherever its handle stands', async () => {
    await store('KEY');
    const places = [
      {},
      { url: `${receiver.url}/{{secret:KEY}}`, body: '' },
      { url: `${receiver.url}/?key={{ secret: KEY }}`, body: '' },
      { headers: { authorization: 'Bearer {{secret:KEY}}' }, body: '' },
      { body: { deep: [{ key: 'x{{secret:KEY}}' }] } },
    ];
    for (const place of places) {
      for (const person of [team.member, team.manager]) {
        expect(await create(person, [withoutRedaction, sending(place)])).toMatchObject(REFUSAL);
      }
      expect((await create(team.admin, [withoutRedaction, sending(place)])).status).toBe(201);
    }
    expect(await db()('automations').where({ team_id: team.team_id }).whereNot({ created_by: team.admin.user_id })).toEqual([]);
  });

  it('is named to nobody who may not even read the team, or not write in it', async () => {
    await store('KEY');
    const { path } = await made(team.admin, [sending()]);
    for (const person of [team.guest, await buildPerson(app)]) {
      const answers = [
        await create(person, [sending()]),
        await app.as(person).patch(path, { name: 'Mine' }),
        await app.as(person).post(`${path}/execute`, {}),
        await app.as(person).post(`${path}/toggle`, { is_active: true }),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(403);
        expect(JSON.stringify(answer.body)).not.toContain('KEY');
      }
    }
  });

  it('lets only admins change, start, test, enable, replay or roll back what an admin saved', async () => {
    await store('KEY');
    const automation = await made(team.admin, [sending()], { is_active: false });
    const { path } = automation;
    const failed = await buildRun(app, team, { automation, creator: team.admin, status: 'failed', statuses: ['failed'] });
    const retry = `/api/automations/dead-letter/${failed.run_id}/retry`;
    const asManager = app.as(team.manager);
    const elsewhere = sending({ url: `${receiver.url}/elsewhere` });
    const whole = { name: 'Tell', trigger_type: 'manual', actions: [elsewhere] };
    for (const answer of [
      await asManager.patch(path, { actions: [elsewhere] }),
      await asManager.patch(path, { name: 'Another' }),
      await asManager.patch(path, { is_active: true }),
      await asManager.put(path, whole),
      await asManager.post(`${path}/execute`, { event: { to: receiver.url } }),
      await asManager.post(`${path}/test`, {}),
      await asManager.post(`${path}/toggle`, { is_active: true }),
      await asManager.post(`${path}/toggle`, {}),
      await asManager.post(`${path}/rollback`, { version: 1 }),
      await asManager.post(retry, {}),
      await asManager.post(retry, { version: 'original', actions: 'failed' }),
    ]) {
      expect(answer).toMatchObject(REFUSAL);
    }
    // Without the handle it is anybody's again; the handle comes back through no door.
    expect((await asManager.patch(path, { actions: [withoutRedaction] })).status).toBe(200);
    expect(await asManager.post(`${path}/rollback`, { version: 1 })).toMatchObject(REFUSAL);
    expect(await asManager.post(`${path}/rollback`, { version: 1, force: true })).toMatchObject(REFUSAL);
    expect(await asManager.post(retry, { version: 'original' })).toMatchObject(REFUSAL);
    expect((await asManager.post(`${path}/execute`, {})).status).toBe(202);
    expect((await app.as(team.admin).post(`${path}/rollback`, { version: 1 })).status).toBe(200);
    for (const verb of ['execute', 'test']) expect((await app.as(team.admin).post(`${path}/${verb}`, {})).status).toBe(202);
    expect((await app.as(team.admin).post(retry, {})).status).toBe(200);
    sweep();
  });

  it('does not keep anybody from stopping what holds it', async () => {
    await store('KEY');
    const automation = await made(team.admin, [sending()]);
    const run = await begin(automation, team.admin);
    const asManager = app.as(team.manager);
    expect((await asManager.post(`${automation.path}/toggle`, { is_active: false })).status).toBe(200);
    expect((await asManager.post(`/api/automations/runs/${run.run_id}/cancel`)).status).toBe(200);
    expect((await asManager.delete(automation.path)).status).toBe(200);
  });

  it('is filled in where an admin saved the version, whichever task started the run', async () => {
    await store('KEY');
    expect(await outcome(await made(team.admin, [sending()]), team.admin, { triggered_by: team.guest.user_id })).toBe(
      'succeeded',
    );
    expect(receiver.received.map(({ body }) => body)).toEqual([VALUE]);
  });

  it('is not filled in where its handle was there before it', async () => {
    const automation = await made(team.member, [sending()]);
    await store('KEY');
    expect(await outcome(automation, team.member)).toBe('secret_not_authorized');
    for (const verb of ['execute', 'test']) {
      expect(await app.as(team.member).post(`${automation.path}/${verb}`, {})).toMatchObject(REFUSAL);
    }
    sweep();
    // An admin who saves its actions again answers for them; one who renames it does not.
    expect((await app.as(team.admin).patch(automation.path, { name: 'Not read', is_active: true })).status).toBe(200);
    expect(await outcome(automation, team.member)).toBe('secret_not_authorized');
    expect((await app.as(team.admin).patch(automation.path, { actions: [sending()] })).status).toBe(200);
    expect(await outcome(automation, team.member)).toBe('succeeded');
    expect((await app.as(team.admin).patch(automation.path, { name: 'Read and agreed' })).status).toBe(200);
    expect(await outcome(automation, team.member)).toBe('succeeded');
  });

  it('is not filled in where its hosts were removed after the save', async () => {
    await store('KEY', [here()]);
    const automation = await made(team.member, [sending()]);
    const waiting = await begin(automation, team.member);
    await store('KEY', []);
    await act(waiting);
    expect(await getStep(waiting)).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'secret_not_authorized' } });
    expect(receiver.received).toEqual([]);
    // Nor where it was deleted and made anew without them.
    await store('KEY', [here()]);
    await remove('KEY');
    await store('KEY');
    expect(await outcome(automation, team.member)).toBe('secret_not_authorized');
    sweep();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['is only a manager now', () => setRole(team.admin, 'manager')],
    ['is only a guest now', () => setRole(team.admin, 'guest')],
    ['has left the team', () => leave(app, team, team.admin)],
    ['is suspended', () => db()('users').where({ user_id: team.admin.user_id }).update({ status: 'suspended' })],
  ])('is not filled in where the admin who saved it %s', async (_what, lose) => {
    await store('KEY');
    const automation = await made(team.member, [withoutRedaction]);
    expect((await app.as(team.admin).patch(automation.path, { actions: [sending()] })).status).toBe(200);
    expect(await outcome(automation, team.member)).toBe('succeeded');
    receiver.received.length = 0;
    await lose();
    expect(await outcome(automation, team.member)).toBe('secret_not_authorized');
    expect(receiver.received).toEqual([]);
  });

  it.each<[string, string[] | undefined, () => Promise<unknown>]>([
    ['secret_not_authorized', undefined, () => setRole(team.admin, 'member')],
    ['secret_host_refused', ['127.0.0.1'], () => store('KEY', ['elsewhere.example'])],
  ])('is judged anew at each attempt: %s', async (code, hosts, change) => {
    await store('KEY', hosts);
    const automation = await made(team.admin, [{ ...sending(), retry: { max_attempts: 3 } }]);
    receiver.answer((_request, response) => response.writeHead(503).end());
    const run = await begin(automation, team.member);
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    await db()('run_actions').where({ run_id: run.run_id }).update({ due_at: db().fn.now() });
    await change();
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(run)).error.code).toBe(code);
    expect(receiver.received).toHaveLength(1);
  });

  it('is refused to an admin who is demoted while the save waits', async () => {
    await store('KEY');
    let saving: ReturnType<typeof create> | undefined;
    await db().transaction(async (demotion) => {
      await demotion('memberships').where({ team_id: team.team_id, user_id: team.admin.user_id }).update({ role: 'member' });
      saving = create(team.admin, [sending()]);
      // Until its session waits for the row.
      for (let waits = 0; waits === 0; ) {
        const { rows } = await db().raw<{ rows: { n: number }[] }>(
          "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        );
        waits = rows[0]?.n ?? 0;
      }
    });
    expect(await saving).toMatchObject(REFUSAL);
  });

  it('is none of a personal automation', async () => {
    await store('KEY');
    const automation = await made(team.admin, [sending()], { team_id: null });
    const run = await buildRun(app, team, {
      automation,
      creator: team.admin,
      inTeam: false,
      status: 'running',
      statuses: ['pending'],
    });
    await act(run);
    expect((await getStep(run)).error.code).toBe('secret_missing');
    expect(receiver.received).toEqual([]);
  });

  it('may stand in an action that fills in nothing, for admins', async () => {
    await store('KEY');
    const comment = { type: 'add_comment', params: { task_id: 't', content: '{{secret:KEY}}' } };
    expect(await create(team.member, [comment])).toMatchObject(REFUSAL);
    expect((await create(team.admin, [comment])).status).toBe(201);
  });
});

describe('a secret with allowed hosts', () => {
  const elsewhere = 'elsewhere.example';

  it('may be used by any author, and reaches its hosts', async () => {
    await store('KEY', [elsewhere, here()]);
    for (const person of [team.member, team.manager]) {
      const automation = await made(person, [sending()]);
      expect(await outcome(automation, person)).toBe('succeeded');
      expect((await app.as(person).post(`${automation.path}/test`, {})).status).toBe(202);
    }
    expect(receiver.received.map(({ body }) => body)).toEqual([VALUE, VALUE]);
  });

  it.each([
    ['the body', { body: 'k={{secret:KEY}}' }],
    ['a header', { headers: { 'X-Key': '{{secret:KEY}}' }, body: '' }],
    ['the path', { url: '/collect/{{secret:KEY}}', body: '' }],
    ['the query', { url: '/collect?key={{secret:KEY}}', body: '' }],
  ])('in %s reaches no other host, for any author', async (_where, params) => {
    const url = 'url' in params ? `${receiver.url}${params.url}` : `${receiver.url}/collect`;
    const { port } = new URL(receiver.url);
    const hosts = [elsewhere, 'localhost', '*.0.0.example', `127.0.0.1:${Number(port) === 1 ? 2 : 1}`, `[::1]:${port}`];
    await store('KEY', hosts);
    for (const person of [team.member, team.admin]) {
      expect(await outcome(await made(person, [sending({ ...params, url })]), person)).toBe('secret_host_refused');
    }
    expect(receiver.received).toEqual([]);
    await store('KEY', [here()]);
    expect(await outcome(await made(team.member, [sending({ ...params, url })]), team.member)).toBe('succeeded');
    expect(JSON.stringify(receiver.received)).toContain(VALUE);
  });

  it('is kept back with all others when one of them may not go there', async () => {
    await store('KEY', [here()]);
    await store('OTHER', [elsewhere]);
    await store('BARE');
    const both = await made(team.member, [sending({ body: '{{secret:KEY}} {{secret:OTHER}}' })]);
    expect(await outcome(both, team.member)).toBe('secret_host_refused');
    const bare = await made(team.admin, [sending({ body: '{{secret:KEY}} {{secret:BARE}}' })]);
    expect(await outcome(bare, team.admin)).toBe('succeeded');
    await setRole(team.admin, 'manager');
    receiver.received.length = 0;
    expect(await outcome(bare, team.admin)).toBe('secret_not_authorized');
    expect(receiver.received).toEqual([]);
  });

  it('may stand in the path of an address, as the incoming webhooks of chats want it', async () => {
    await store('KEY', [here()], 'T0/B0/word');
    const automation = await made(team.member, [sending({ url: `${receiver.url}/services/{{secret:KEY}}`, body: 'x' })]);
    expect(await outcome(automation, team.member)).toBe('succeeded');
    expect(receiver.received.map(({ url }) => url)).toEqual(['/services/T0/B0/word']);
    const whole = await create(team.member, [sending({ url: '{{secret:KEY}}', body: 'x' })]);
    expect([whole.status, whole.body.message]).toEqual([400, expect.stringContaining('a literal scheme and host')]);
  });

  it('keeps its hosts when only its value is stored anew, and loses them by an empty list', async () => {
    const details = async () =>
      (await app.as(team.admin).get(`/api/automations/secrets?team_id=${team.team_id}`)).body.details as object[];
    await store('KEY', ['B.example', 'a.example:443', 'b.example.']);
    const hosts = ['b.example', 'a.example:443'];
    expect(await details()).toEqual([{ name: 'KEY', allowed_hosts: hosts }]);
    await store('KEY', undefined, 'another value');
    expect(await details()).toEqual([{ name: 'KEY', allowed_hosts: hosts }]);
    const body = { team_id: team.team_id, name: 'KEY', value: VALUE };
    await app.as(team.admin).post('/api/automations/secrets', { ...body, allowed_hosts: null });
    expect(await details()).toEqual([{ name: 'KEY', allowed_hosts: hosts }]);
    await store('KEY', []);
    expect(await details()).toEqual([{ name: 'KEY', allowed_hosts: [] }]);
    expect((await audited()).map(({ action, details: { allowed_hosts } }) => [action, allowed_hosts])).toEqual([
      ['create', hosts],
      ['update', hosts],
      ['update', hosts],
      ['update', []],
    ]);
    const twenty = Array.from({ length: 20 }, (_, n) => `h${n}.example`);
    const getStatus = async (allowed_hosts: unknown) =>
      (await app.as(team.admin).post('/api/automations/secrets', { ...body, allowed_hosts })).status;
    expect(await getStatus([...twenty, 'H0.example'])).toBe(200);
    for (const hosts of [[...twenty, 'h20.example'], 'a.example', [1], ['https://a.example'], ['*'], ['']]) {
      expect(await getStatus(hosts)).toBe(422);
    }
  });

  it('leaves an entry in the audit for each use, with run and host, and none where nothing was sent', async () => {
    await store('KEY', [here()]);
    await store('OTHER');
    const automation = await made(team.admin, [sending({ body: '{{secret:KEY}} {{secret:OTHER}} {{secret:KEY}}' })]);
    const run = await begin(automation, team.admin);
    await act(run);
    const used = { run_id: run.run_id, action_index: 0, host: here() };
    expect(await reads()).toMatchObject(
      ['KEY', 'OTHER'].map((name) => ({
        severity: 'LOW',
        actor_type: 'automation',
        user_id: team.admin.user_id,
        entity_type: 'secret',
        entity_id: name,
        details: { name, ...used },
      })),
    );
    await outcome(automation, team.admin, { is_test: true });
    await store('KEY', [elsewhere]);
    expect(await outcome(automation, team.admin)).toBe('secret_host_refused');
    expect(await reads()).toHaveLength(2);
    expect(JSON.stringify(await reads())).not.toContain(VALUE);
  });
});

describe('the signing key of webhooks', () => {
  const hook = (url: string) => ({ type: 'send_webhook', params: { url }, retry: { max_attempts: 1 } });

  it('is a secret like another: for admins, or for its hosts', async () => {
    await store('WEBHOOK_SIGNING_KEY');
    expect(await create(team.manager, [hook(receiver.url)])).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('WEBHOOK_SIGNING_KEY') },
    });
    expect(await outcome(await made(team.admin, [hook(receiver.url)]), team.admin)).toBe('succeeded');
    await store('WEBHOOK_SIGNING_KEY', ['partner.example']);
    expect(await outcome(await made(team.member, [hook(receiver.url)]), team.member)).toBe('secret_host_refused');
    expect(receiver.received).toHaveLength(1);
    await store('WEBHOOK_SIGNING_KEY', [here()]);
    expect(await outcome(await made(team.member, [hook(receiver.url)]), team.member)).toBe('succeeded');
    expect((await reads()).map(({ entity_id }) => entity_id)).toEqual(['WEBHOOK_SIGNING_KEY', 'WEBHOOK_SIGNING_KEY']);
  });

  it('signs nothing for a definition that was there before it', async () => {
    const automation = await made(team.member, [hook(receiver.url)]);
    await store('WEBHOOK_SIGNING_KEY');
    expect(await outcome(automation, team.member)).toBe('secret_not_authorized');
    expect(receiver.received).toEqual([]);
  });
});

describe('an address beside a secret', () => {
  it.each([
    '{{event.url}}',
    '{{event.scheme}}://api.example.com/',
    'https://{{event.host}}/',
    'https://{{secret:KEY}}/',
    'https://api.{{event.domain}}/',
    'https://api.example.com{{event.path}}',
    'https://api.example.com:{{event.port}}/',
    'https://api.example.com\t{{event.path}}',
    'https://api.example.com\\{{event.path}}',
    'https://user@api.example.com/{{event.path}}',
    'https:{{event.path}}',
    'https:/{{event.path}}',
    'https:///{{event.path}}',
  ])('with a template in its scheme or host is refused when it is saved: %j', async (url) => {
    const refused = await create(team.admin, [withoutRedaction, sending({ url })]);
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^actions\[1\]\.params\.url: /) } });
    // A webhook always carries the signing key.
    expect((await create(team.admin, [{ type: 'send_webhook', params: { url } }])).status).toBe(400);
  });

  it.each([
    'https://api.example.com',
    'https://api.example.com/{{event.path}}?q={{event.q}}#{{event.f}}',
    'HTTPS://api.example.com?{{event.q}}',
    'https://api.example.com#{{event.f}}',
    'http://[::1]:8080/{{secret:KEY}}',
    'https://api.example.com/https://{{event.host}}',
  ])('is taken with templates behind them: %j', async (url) => {
    expect((await create(team.admin, [sending({ url })])).status).toBe(201);
  });

  it('may be a template where no secret goes along', async () => {
    expect((await create(team.member, [sending({ url: 'https://{{event.host}}/', body: '' })])).status).toBe(201);
  });

  it('is judged again when a version from before that rule runs', async () => {
    await store('KEY');
    await store('HOSTED', [here()]);
    for (const body of ['{{secret:KEY}}', '{{secret:HOSTED}}']) {
      const automation = await made(team.admin, [sending({ body })]);
      const actions = JSON.stringify([sending({ url: '{{event.to}}', body })]);
      await db()('automation_versions').where({ automation_id: automation.automation_id }).update({ actions });
      const event = JSON.stringify({ type: 'manual', to: `${receiver.url}/collect` });
      expect(await outcome(automation, team.admin, { event })).toBe('secret_host_refused');
    }
    expect(receiver.received).toEqual([]);
  });

  it('leads where it says, whatever a template behind its host holds', async () => {
    await store('KEY', [here()]);
    const automation = await made(team.member, [sending({ url: `${receiver.url}/{{event.path}}` })]);
    for (const path of [
      '@evil.example/',
      '//evil.example/',
      '\\\\evil.example\\',
      '../../evil',
      '?@evil.example',
      '#',
      'a\r\nHost: evil.example',
    ]) {
      const event = JSON.stringify({ type: 'manual', path });
      expect(await outcome(automation, team.member, { event })).toBe('succeeded');
    }
    expect(new Set(receiver.received.map(({ headers }) => headers.host))).toEqual(new Set([here()]));
    const injected = await made(team.member, [sending({ headers: { 'X-A': '{{event.text}}' } })]);
    const event = JSON.stringify({ type: 'manual', text: 'a\r\nX-Forwarded-Host: evil.example' });
    expect(await outcome(injected, team.member, { event })).toBe('header_invalid');
    const host = await made(team.member, [sending({ headers: { Host: 'evil.example' } })]);
    expect(await outcome(host, team.member)).toBe('header_invalid');
  });

  it('is not left by a redirect', async () => {
    const trap = await startReceiver();
    receiver.answer((_request, response) => response.writeHead(307, { location: `${trap.url}/trap` }).end());
    await store('KEY', [here()]);
    expect(await outcome(await made(team.member, [sending()]), team.member)).toBe('http_status');
    expect([receiver.received.length, trap.received.length]).toEqual([1, 0]);
    trap.close();
  });
});

describe('a test run', () => {
  const test = { is_test: true };

  it('refuses what a real one would, and sends nothing', async () => {
    await store('BARE');
    await store('KEY', ['elsewhere.example']);
    await store('HERE', [here()]);
    const late = await made(team.member, [sending({ body: '{{secret:LATE}}' })]);
    await store('LATE');
    expect(await outcome(late, team.member, test)).toBe('secret_not_authorized');
    expect(await outcome(await made(team.member, [sending()]), team.member, test)).toBe('secret_host_refused');
    const good = await made(team.admin, [sending({ body: '{{secret:HERE}} {{secret:BARE}}' })]);
    const run = await begin(good, team.admin, test);
    await act(run);
    expect((await getStep(run)).output).toMatchObject({ simulated: true, params: { body: '{{secret:HERE}} {{secret:BARE}}' } });
    expect(receiver.received).toEqual([]);
  });

  it('tells nothing of a value: not its length, not its characters, not even whether it opens', async () => {
    const values = ['x', 'x'.repeat(9_000), 'GET', 'a\nb', '☃'];
    const shown: unknown[] = [];
    const actions = [
      sending({ url: `${receiver.url}/{{secret:KEY}}`, body: 'y'.repeat(60_000) }),
      sending({ method: '{{secret:KEY}}' }),
      sending({ headers: { 'X-A': '{{secret:KEY}}' } }),
    ];
    for (const value of values) {
      await store('KEY', [here()], value);
      const run = await begin(await made(team.member, actions), team.member, test);
      for (const index of actions.keys()) await act(run, index);
      const steps = await db()('run_actions').where({ run_id: run.run_id }).orderBy('index');
      shown.push(steps.map(({ status, error, output }) => ({ status, error, output })));
    }
    for (const each of shown) expect(each).toEqual(shown[0]);
    await db()('team_secrets')
      .where({ team_id: team.team_id })
      .update({ sealed_value: Buffer.from('broken') });
    expect(await outcome(await made(team.member, actions), team.member, test)).toBe('succeeded');
  });
});
