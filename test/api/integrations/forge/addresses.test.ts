import { request } from 'node:http';
import { once } from 'node:events';
import { v7 as uuidv7 } from 'uuid';
import { deleteExpiredForgeSecrets } from '../../../../api/integrations/forge/addresses/delete-expired-secrets.js';
import { admitDelivery, receiveDelivery } from '../../../../api/integrations/forge/addresses/receive-delivery.js';
import { purgeReceipts } from '../../../../api/integrations/forge/deliveries/purge-receipts.js';
import { sign } from '../../../../api/integrations/forge/deliveries/signature.js';
import type { RawRequest } from '../../../../api/platform/endpoint/endpoint.js';
import { deliveries, type DeliveryName, withFields } from '../../../../scripts/fixtures/forge-payloads.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';
import { type DeliveryOptions, post, relay, send as sendToOperator } from './deliver.js';

// The address of a binding: a team connects a repository by a secret of its own.

let app: TestApp;
let team: TestTeam;
let repo: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  repo = `acme/rocket-${team.team_id}`;
});

const db = () => app.services.db;
const REPOSITORIES = '/api/forge/repositories';

interface Address {
  binding_id: string;
  team_id: string;
  repo: string;
  path: string;
  secret: string;
}
async function bind(of: TestTeam = team, fields: Record<string, unknown> = {}, by: Person = of.admin): Promise<string> {
  const bound = await app.as(by).post(REPOSITORIES, { repo, team_id: of.team_id, ...fields });
  expect(bound.status).toBe(201);
  return bound.body.binding_id;
}
async function make(binding_id: string, of: TestTeam = team): Promise<Address> {
  const made = await app.as(of.admin).post(`${REPOSITORIES}/${binding_id}/address`);
  expect(made.status).toBe(201);
  return { binding_id, team_id: of.team_id, repo, path: new URL(made.body.url).pathname, secret: made.body.secret };
}
const connect = async (fields: Record<string, unknown> = {}): Promise<Address> => make(await bind(team, fields));

/** Sends one of GitHub's deliveries to an address, of its repository unless told otherwise. */
const send = (
  to: Address,
  name: DeliveryName,
  patch: Record<string, unknown> = {},
  sent: DeliveryOptions = {},
): Promise<Answer> => {
  const { event, body } = deliveries[name];
  const { headers, id = uuidv7(), ...rest } = sent;
  const github = { 'x-github-event': event, ...(id !== null && { 'x-github-delivery': id }), 'content-type': 'application/json' };
  const bytes = JSON.stringify(withFields(body, { 'repository.full_name': to.repo, ...patch }));
  return post(app, bytes, {
    event: null,
    id: null,
    path: to.path,
    secret: to.secret,
    headers: { ...github, ...headers },
    ...rest,
  });
};
const recordOf = async ({ binding_id }: Address) => (await app.as(team.admin).get(`${REPOSITORIES}/${binding_id}/address`)).body;
const listOf = async (of: TestTeam = team) =>
  (await app.as(of.admin).get(`/api/forge/deliveries?team_id=${of.team_id}`)).body as Record<string, unknown>[];
const eventsOf = (of: TestTeam) => db()('outbox').where({ kind: 'event', team_id: of.team_id }).whereLike('subject', 'forge.%');
/** Its events are kept only if an automation waits for them. */
const GATE = { type: 'require_approval', params: { allow_self_approval: false } };
const subscribe = async (of: TestTeam, trigger_type = 'forge.*') => {
  const made = await app
    .as(of.member)
    .post('/api/automations', { name: 'Hear', team_id: of.team_id, trigger_type, actions: [GATE] });
  expect(made.status).toBe(201);
};

describe('the address', () => {
  it('is made once with its secret, which is in no other answer and in no audit entry', async () => {
    const binding_id = await bind();
    const path = `${REPOSITORIES}/${binding_id}/address`;
    expect((await app.as(team.admin).get(path)).status).toBe(404);
    const made = await app.as(team.admin).post(path);
    expect(made).toMatchObject({
      status: 201,
      body: {
        binding_id,
        url: expect.stringMatching(new RegExp(`^http.*/api/forge/webhooks/${binding_id}$`)),
        secret: expect.stringMatching(/^whsec_/),
        created_by: team.admin.user_id,
        previous_until: null,
        connected_at: null,
      },
    });
    expect(await app.as(team.admin).post(path)).toMatchObject({ status: 409, body: { error_code: 'RESOURCE_CONFLICT' } });
    const { secret, ...record } = made.body;
    expect((await app.as(team.admin).get(path)).body).toEqual(record);
    const entries = await db()('audit_entries').where({ entity_id: binding_id });
    expect(entries.map(({ action, severity }) => [action, severity])).toEqual([
      ['create', 'MEDIUM'],
      ['rotate', 'HIGH'],
    ]);
    const [stored] = await db()('forge_addresses').where({ binding_id });
    const key = secret.slice('whsec_'.length, 20);
    for (const text of [entries, record, await db()('activity').where({ entity_id: binding_id })])
      expect(JSON.stringify(text)).not.toContain(secret.slice(0, 16));
    for (const bytes of [stored.sealed_value, stored.data_key]) expect(bytes.includes(key)).toBe(false);
  });

  it('is for admins of the team', async () => {
    const address = await connect();
    const other = await buildTeam(app);
    const path = `${REPOSITORIES}/${address.binding_id}/address`;
    for (const person of [team.guest, team.member, team.manager, other.admin]) {
      expect((await app.as(person).get(path)).status).toBe(403);
      expect((await app.as(person).post(path)).status).toBe(403);
      expect((await app.as(person).post(`${path}/rotate-secret`, {})).status).toBe(403);
      expect((await app.as(person).delete(path)).status).toBe(403);
    }
    expect((await app.as(team.admin).delete(path)).status).toBe(200);
    expect((await app.as(team.admin).delete(path)).status).toBe(404);
    expect((await app.as(team.admin).post(`${path}/rotate-secret`, {})).status).toBe(404);
  });

  it('a rotated secret counts for a day more, an older one no longer', async () => {
    const first = await connect();
    const path = `${REPOSITORIES}/${first.binding_id}/address/rotate-secret`;
    const { secret_id } = await recordOf(first);
    const rotated = await app.as(team.admin).post(path, { replaces: secret_id });
    expect(rotated).toMatchObject({ status: 200, body: { secret: expect.any(String), previous_until: expect.any(String) } });
    expect(await app.as(team.admin).post(path, { replaces: secret_id })).toMatchObject({ status: 409 });
    const second = { ...first, secret: rotated.body.secret };
    for (const address of [first, second]) expect((await send(address, 'push.branch')).status).toBe(200);
    const third = { ...first, secret: (await app.as(team.admin).post(path, {})).body.secret };
    expect([(await send(first, 'push.branch')).status, (await send(second, 'push.branch')).status]).toEqual([401, 200]);
    await db()('forge_addresses')
      .where({ binding_id: first.binding_id })
      .update({ previous_until: new Date(Date.now() - 1000) });
    expect([(await send(second, 'push.branch')).status, (await send(third, 'push.branch')).status]).toEqual([401, 200]);
    expect((await recordOf(first)).previous_until).toBeNull();
    expect(await deleteExpiredForgeSecrets(app.services)).toBe(1);
    expect(await db()('forge_addresses').where({ binding_id: first.binding_id }).first()).toMatchObject({
      previous_data_key: null,
      previous_held_by: [],
    });
  });

  it('that ends while the body of its delivery comes signs nothing', async () => {
    const [rotated, removed] = [await connect(), await make(await bind(team, { repo: `${repo}-other` }))];
    const begin = async ({ binding_id, secret }: Address, text: string) => {
      const body = Buffer.from(text);
      const request = {
        services: app.services,
        params: { binding_id },
        ip: '127.0.0.1',
        headers: { 'x-github-event': 'push', 'x-hub-signature-256': sign(body, secret) },
        count: async () => undefined,
        requestId: uuidv7(),
        body,
      } as unknown as RawRequest;
      return { ...request, admitted: await admitDelivery(request) };
    };
    const push = JSON.stringify(withFields(deliveries['push.branch'].body, { 'repository.full_name': repo }));
    const begun = await Promise.all([begin(rotated, push), begin(rotated, 'no JSON'), begin(removed, push)]);
    const path = `${REPOSITORIES}/${rotated.binding_id}/address/rotate-secret`;
    for (let i = 0; i < 2; i += 1) expect((await app.as(team.admin).post(path, {})).status).toBe(200);
    await app.as(team.admin).delete(`${REPOSITORIES}/${removed.binding_id}/address`);
    await make(removed.binding_id);
    for (const request of begun)
      await expect(receiveDelivery(request, (bytes) => JSON.parse(bytes.toString()))).rejects.toMatchObject({
        code: 'AUTHENTICATION_REQUIRED',
      });
    expect(await db()('forge_address_deliveries').whereIn('binding_id', [rotated.binding_id, removed.binding_id])).toEqual([]);
  });

  it('ends with its removal, with the binding, and with the team', async () => {
    const other = await buildTeam(app);
    const removed = await connect();
    expect((await send(removed, 'ping.repository')).status).toBe(200);
    await app.as(team.admin).delete(`${REPOSITORIES}/${removed.binding_id}/address`);
    expect((await send(removed, 'push.branch')).status).toBe(401);
    const unbound = await make(removed.binding_id);
    await send(unbound, 'push.branch');
    expect((await app.as(team.admin).delete(`${REPOSITORIES}/${unbound.binding_id}`)).status).toBe(200);
    expect((await send(unbound, 'push.branch')).status).toBe(401);
    await relay(app);
    const gone = await make(await bind(other), other);
    await send(gone, 'push.branch');
    expect((await app.as(other.admin).delete(`/api/teams/${other.team_id}`)).status).toBe(200);
    expect((await send(gone, 'push.branch')).status).toBe(401);
    const bindings = [removed.binding_id, gone.binding_id];
    expect(await db()('forge_address_deliveries').whereIn('binding_id', bindings)).toEqual([]);
  });
});

describe('what is taken', () => {
  it('the ping connects the repository, with one audit entry', async () => {
    const address = await connect();
    expect(await send(address, 'ping.repository')).toMatchObject({ status: 200, body: { received: true, ping: true } });
    const { connected_at, ...record } = await recordOf(address);
    expect(record).toMatchObject({ last_event: 'ping', last_delivery_at: connected_at });
    expect((await send(address, 'push.branch')).body).toEqual({ received: true, event: 'forge.push', duplicate: false });
    expect(await recordOf(address)).toMatchObject({ connected_at, last_event: 'push' });
    const entries = await db()('audit_entries').where({ entity_id: address.binding_id, action: 'update' });
    expect(entries).toMatchObject([{ actor_type: 'system', team_id: team.team_id }]);
    await relay(app);
    expect(await listOf()).toMatchObject([
      { event: 'push', outcome: 'applied', repo },
      { event: 'ping', outcome: 'ignored', reason: expect.stringContaining('the address works'), repo },
    ]);
  });

  it('does what the operator’s webhook does: a task for an issue, a link, an event for automations', async () => {
    const project = await buildProject(app, team);
    const address = await connect({ project_id: project.project_id, sync_issues: true });
    await subscribe(team);
    await send(address, 'issues.opened', { 'issue.number': 7 });
    await relay(app);
    const [task] = await db()('tasks').where({ project_id: project.project_id });
    expect(task.forge_links).toMatchObject([{ repo, number: 7, kind: 'issue' }]);
    await send(address, 'issues.closed', { 'issue.number': 7, 'issue.updated_at': '2099-01-01T00:00:00Z' });
    await relay(app);
    expect(await db()('tasks').where({ task_id: task.task_id }).first()).toMatchObject({ status: 'done' });
    expect((await eventsOf(team)).map(({ subject }) => subject)).toEqual(['forge.issue_opened', 'forge.issue_closed']);
    expect((await listOf()).map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
  });

  it('a repeat of an id does nothing, a refused one leaves its id good', async () => {
    const address = await connect();
    const id = uuidv7();
    expect((await send(address, 'push.branch', {}, { id, secret: 'wrong' })).status).toBe(401);
    expect((await send(address, 'push.branch', { 'repository.full_name': 'acme/else' }, { id })).status).toBe(403);
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(address, 'push.branch', {}, { id })));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    await relay(app);
    expect((await listOf()).filter(({ outcome }) => outcome === 'applied')).toHaveLength(1);
  });

  it('keeps of an applied push that it came, and nothing for longer than 30 days', async () => {
    const address = await connect();
    await send(address, 'push.branch');
    await send(address, 'workflow_run.failed');
    await relay(app);
    const rows = () => db()('forge_address_deliveries').where({ binding_id: address.binding_id }).orderBy('receipt_id');
    expect((await rows()).map(({ payload }) => payload !== null)).toEqual([false, true]);
    await db().raw(
      "update forge_address_deliveries set receipt_id = uuidv7(interval '-31 days') where event = 'push' and binding_id = ?",
      [address.binding_id],
    );
    await purgeReceipts(db());
    expect(await rows()).toHaveLength(1);
  });

  it('what PostgreSQL cannot store is cleaned', async () => {
    const address = await connect();
    const { status } = await send(address, 'issues.opened', { 'issue.title': 'a\u0000b' });
    expect(status).toBe(200);
    await relay(app);
    expect(await listOf()).toMatchObject([{ outcome: 'applied' }]);
  });
});

describe('what is refused', () => {
  it('a delivery of another repository, or of none, with its reason', async () => {
    const address = await connect();
    expect(await send(address, 'pull_request.merged', { 'repository.full_name': 'acme/else' })).toMatchObject({
      status: 403,
      body: { error_code: 'PERMISSION_DENIED', detail: expect.stringContaining('acme/else') },
    });
    expect((await send(address, 'ping.repository', { 'repository.full_name': 'acme/else' })).status).toBe(403);
    expect((await post(app, '{}', { path: address.path, secret: address.secret })).status).toBe(403);
    expect((await send(address, 'push.branch', { 'repository.full_name': repo.toUpperCase() })).status).toBe(200);
    const list = await listOf();
    expect(list.map(({ outcome }) => outcome)).toEqual([null, 'refused', 'refused', 'refused']);
    expect(list[3]?.['reason']).toContain(`takes deliveries of ${repo} only. This one is of acme/else`);
  });

  it('a body that is not JSON, and says which content type the webhook needs', async () => {
    const address = await connect();
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-github-event': 'ping' };
    const sent = { path: address.path, secret: address.secret, event: null };
    expect(await post(app, 'payload=%7B%7D', { ...sent, headers: form })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('application/json') },
    });
    expect((await post(app, '{"a":', { ...sent, event: 'push' })).status).toBe(400);
    expect((await recordOf(address)).connected_at).toBeNull();
    expect((await listOf()).map(({ reason }) => reason)[1]).toContain('application/json');
  });

  it('an unknown address as a wrong signature: the same answer, body and headers, and the same statements', async () => {
    const fresh = await startApp({ RATE_LIMIT_FORGE_WEBHOOK: '4' });
    const there = await buildTeam(fresh);
    const { body } = await fresh.as(there.admin).post(REPOSITORIES, { repo, team_id: there.team_id });
    await fresh.as(there.admin).post(`${REPOSITORIES}/${body.binding_id}/address`);
    const paths = [body.binding_id, uuidv7(), 'garbage', body.binding_id, uuidv7(), body.binding_id];
    const shown: unknown[][] = [];
    for (const id of paths) {
      const { status, headers, body: answer } = await post(fresh, '{}', { path: `/api/forge/webhooks/${id}`, secret: 'wrong' });
      shown.push([status, answer.error_code, answer.message, answer.detail, headers.get('ratelimit')?.replace(/;t=\d+/, '')]);
    }
    const left = (r: number) => `"forge_address";r=${r}`;
    expect(shown.slice(0, 4)).toEqual(
      [3, 2, 1, 0].map((r) => [401, 'AUTHENTICATION_REQUIRED', shown[0]?.[2], shown[0]?.[3], left(r)]),
    );
    expect(shown[4]).toEqual(shown[5]);
    expect(shown[4]?.[0]).toBe(429);
    await fresh.close();
  });

  it('a flood without the secret does not use up what the code host may send', async () => {
    const fresh = await startApp({ RATE_LIMIT_FORGE_WEBHOOK: '3', TRUST_PROXY_HOPS: '1' });
    const there = await buildTeam(fresh);
    const { body } = await fresh.as(there.admin).post(REPOSITORIES, { repo, team_id: there.team_id });
    const made = (await fresh.as(there.admin).post(`${REPOSITORIES}/${body.binding_id}/address`)).body;
    const path = `/api/forge/webhooks/${body.binding_id}`;
    const from = (ip: string, secret: string) =>
      post(fresh, JSON.stringify({ repository: { full_name: repo } }), {
        path,
        secret,
        event: 'star',
        headers: { 'x-forwarded-for': ip },
      });
    const flood = [];
    for (let i = 0; i < 5; i += 1) flood.push((await from('203.0.113.9', 'wrong')).status);
    expect(flood).toEqual([401, 401, 401, 429, 429]);
    expect((await from('140.82.112.7', made.secret)).status).toBe(200);
    await fresh.close();
  });

  it('413 for more than 10 MB by its announcement', async () => {
    const address = await connect();
    const announced = request(`${app.url}${address.path}`, {
      method: 'POST',
      headers: { 'content-length': String(10 * 1024 * 1024 + 1) },
    });
    announced.on('error', () => undefined);
    announced.flushHeaders();
    const [answer] = await once(announced, 'response');
    expect(answer.statusCode).toBe(413);
    announced.destroy();
  });

  it('the operator’s secret at an address, and the secret of an address at the operator’s', async () => {
    const address = await connect();
    const operator = app.services.config.FORGE_WEBHOOK_SECRET as string;
    expect((await send(address, 'push.branch', {}, { secret: operator })).status).toBe(401);
    expect((await send(address, 'push.branch', {}, { path: '/api/forge/webhooks' })).status).toBe(401);
    expect((await recordOf(address)).last_refused_at).toEqual(expect.any(String));
  });
});

describe('two teams of one repository', () => {
  async function both(): Promise<{ other: TestTeam; mine: Address; theirs: Address }> {
    const other = await buildTeam(app);
    const root = await buildPerson(app, { role: 'admin' });
    const mine = await connect();
    return { other, mine, theirs: await make(await bind(other, {}, root), other) };
  }

  it('each hears its own address alone, and lists its own deliveries alone', async () => {
    const { other, mine } = await both();
    await subscribe(team);
    await subscribe(other);
    await send(mine, 'pull_request.merged');
    await relay(app);
    expect([await eventsOf(team), await eventsOf(other)].map((events) => events.length)).toEqual([1, 0]);
    expect([(await listOf(team)).length, (await listOf(other)).length]).toEqual([1, 0]);
  });

  it('the id of one is no repeat for the other', async () => {
    const { mine, theirs } = await both();
    const id = uuidv7();
    for (const address of [mine, theirs]) expect((await send(address, 'push.branch', {}, { id })).body.duplicate).toBe(false);
  });

  it('what one signs does not decide the order of the other’s issue', async () => {
    const { other, mine } = await both();
    const project = await buildProject(app, other);
    await db()('forge_repositories').insert({
      repo,
      team_id: other.team_id,
      project_id: project.project_id,
      sync_issues: true,
      created_by: other.admin.user_id,
    });
    const number = { 'issue.number': 9, 'repository.full_name': repo };
    await sendToOperator(app, 'issues.opened', number);
    await relay(app);
    const state = async () => (await db()('tasks').where({ project_id: project.project_id }).first()).status;
    expect(await state()).toBe('todo');
    await send(mine, 'issues.opened', { ...number, 'issue.updated_at': '2099-01-01T00:00:00Z' });
    await relay(app);
    await sendToOperator(app, 'issues.closed', number);
    await relay(app);
    expect(await state()).toBe('done');
  });

  it('an event that comes both ways reaches a team once, in either order', async () => {
    const { other, mine } = await both();
    await subscribe(team);
    await subscribe(other);
    const named = { 'repository.full_name': repo };
    const [first, second] = [uuidv7(), uuidv7()];
    await send(mine, 'pull_request.merged', {}, { id: first });
    await relay(app);
    await sendToOperator(app, 'pull_request.merged', named, { id: first });
    await sendToOperator(app, 'pull_request.merged', named, { id: second });
    await relay(app);
    await send(mine, 'pull_request.merged', {}, { id: second });
    await relay(app);
    expect([await eventsOf(team), await eventsOf(other)].map((events) => events.length)).toEqual([2, 2]);
    expect((await listOf()).find(({ outcome }) => outcome === 'ignored')).toMatchObject({
      delivery_id: second,
      reason: expect.stringContaining('came another way'),
    });
  });
});

it('two bindings of one team share what comes to either address', async () => {
  const [one, two] = [await buildProject(app, team), await buildProject(app, team)];
  const first = await connect({ project_id: one.project_id });
  const second = await make(await bind(team, { project_id: two.project_id }));
  await subscribe(team);
  const id = uuidv7();
  for (const address of [first, second]) await send(address, 'push.branch', {}, { id });
  await relay(app);
  const [event, ...more] = await eventsOf(team);
  expect(more).toEqual([]);
  expect(event.payload.project_ids.toSorted()).toEqual([one.project_id, two.project_id].toSorted());
});

it('a task of another team is not linked, whatever a pull request names', async () => {
  const other = await buildTeam(app);
  const task = await buildTask(app, other, await buildProject(app, other));
  const mine = await buildTask(app, team, await buildProject(app, team));
  const keyOf = async (of: TestTeam) => (await db()('teams').where({ team_id: of.team_id }).first()).key;
  const names = [
    [await keyOf(other), task],
    [await keyOf(team), mine],
  ] as const;
  const title = await Promise.all(
    names.map(async ([key, { task_id }]) => `${key}-${(await db()('tasks').where({ task_id }).first()).number}`),
  );
  await send(await connect(), 'pull_request.opened', { 'pull_request.title': title.join(' and ') });
  await relay(app);
  const linked = await db()('forge_links').where({ repo }).pluck('task_id');
  expect(linked).toEqual([mine.task_id]);
});

it('who made the secret, or held it before, is among the users behind a run', async () => {
  const address = await connect();
  await subscribe(team, 'forge.push');
  const second = await buildPerson(app);
  await db()('memberships').insert({ team_id: team.team_id, user_id: second.user_id, role: 'admin' });
  await app.as(second).post(`${REPOSITORIES}/${address.binding_id}/address/rotate-secret`, {});
  await send(address, 'push.branch');
  await relay(app);
  const [event] = await eventsOf(team);
  expect(event.cause_user_ids.toSorted()).toEqual([team.admin.user_id, second.user_id].toSorted());
});
