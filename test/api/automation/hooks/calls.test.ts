import { randomBytes, randomUUID } from 'node:crypto';
import { nameCaller } from '../../../../api/automation/actions/calling-run.js';
import { pino } from 'pino';
import { deleteOldCalls } from '../../../../api/automation/hooks/delete-old-calls.js';
import { signatureHeaders } from '../../../../api/integrations/webhooks/delivery/signature.js';
import { newWebhookSecret } from '../../../../api/integrations/webhooks/secret.js';
import { buildPerson, buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 5);
const db = () => app.services.db;
const GATE = { type: 'require_approval', params: { allow_self_approval: false } };
const TASK = { type: 'create_task', params: { title: '{{event.body.title}}' } };

interface Made {
  automation_id: string;
  path: string;
}
async function make(fields: Record<string, unknown> = {}, person: Person = team.member): Promise<Made> {
  const { project_id } = await buildProject(app, team);
  const body = { name: 'On call', trigger_type: 'webhook', project_id, actions: [GATE, TASK], ...fields };
  const made = await app.as(person).post('/api/automations', body);
  expect({ status: made.status, warnings: made.body.warnings }).toMatchObject({ status: 201 });
  expect(made.body.warnings.filter((text: string) => text.includes('event'))).toEqual([]);
  const { automation_id } = made.body;
  return { automation_id, path: `/api/automations/${automation_id}/hook` };
}
const address = async ({ path }: Made, person: Person = team.member, body: object = {}): Promise<string> => {
  const { status, body: made } = await app.as(person).post(path, body);
  expect(status).toBe(201);
  return new URL(made.url).pathname;
};
const call = (to: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  app.as().post(to, body, { headers });
const send = (to: string, raw: string | Buffer, type = 'application/json'): Promise<Answer> =>
  app.as().post(to, undefined, { raw, headers: { 'content-type': type } });
const runsOf = ({ automation_id }: Made) => db()('automation_runs').where({ automation_id }).orderBy('queued_at');
const peopleOf = async (runId: string): Promise<string[]> =>
  (await db().raw('select people_of_run(?) as people', [runId])).rows[0].people.toSorted();

describe('POST /api/hooks/{token}', () => {
  it('202, with a queued run for what was sent, its outbox row, and an audit entry', async () => {
    const automation = await make({ condition: 'event.body.severity == "high" && event.query.from == "probe"' });
    const to = await address(automation);
    const answer = await call(`${to}?from=probe`, { title: 'Slow', severity: 'high', n: 12.5 });
    expect([answer.status, answer.body]).toEqual([202, { accepted: true, delivery_id: answer.headers.get('x-correlation-id') }]);
    const [run] = await runsOf(automation);
    expect(run).toMatchObject({ status: 'queued', trigger_type: 'webhook', triggered_by: null, depth: 0 });
    expect(run.event).toEqual({
      type: 'webhook',
      event_id: answer.body.delivery_id,
      occurred_at: expect.any(String),
      team_id: team.team_id,
      project_id: expect.any(String),
      actor_id: null,
      body: { title: 'Slow', severity: 'high', n: 12.5 },
      query: { from: 'probe' },
      content_type: 'application/json',
    });
    expect(await db()('outbox').where({ subject: run.run_id })).toHaveLength(1);
    const entries = await db()('audit_entries').where({ audit_id: answer.body.delivery_id });
    expect(entries).toMatchObject([{ action: 'execute', entity_id: run.run_id, actor_type: 'system', user_id: null }]);
  });

  it('says the same when the condition does not hold, and records that it skipped', async () => {
    const automation = await make({ condition: 'event.body.severity == "high"' });
    const to = await address(automation);
    for (const body of [{ severity: 'low' }, {}, [1], 'text', 7, null]) {
      expect((await call(to, body === null ? undefined : body)).body).toMatchObject({ accepted: true });
    }
    expect(await runsOf(automation)).toEqual([]);
    expect(await db()('skipped_runs').where({ automation_id: automation.automation_id })).toHaveLength(6);
  });

  it('reads forms, and lists of repeated fields', async () => {
    const automation = await make();
    const to = await address(automation);
    expect((await send(to, 'title=A+b&tag=1&tag=2', 'application/x-www-form-urlencoded; charset=utf-8')).status).toBe(202);
    const [run] = await runsOf(automation);
    expect(run.event).toMatchObject({
      body: { title: 'A b', tag: ['1', '2'] },
      content_type: 'application/x-www-form-urlencoded',
    });
  });

  it('404 without a difference for whatever does not start anything', async () => {
    const off = await make();
    const gone = await make();
    const removed = await make();
    const other = await make();
    const trashed = await make();
    const all = await Promise.all([off, gone, removed, other, trashed].map((each) => address(each)));
    await app.as(team.member).post(`/api/automations/${off.automation_id}/toggle`, { is_active: false });
    await app.as(team.member).delete(`/api/automations/${gone.automation_id}`);
    expect((await app.as(team.member).delete(removed.path)).status).toBe(200);
    await app.as(team.member).patch(`/api/automations/${other.automation_id}`, { trigger_type: 'manual' });
    const { project_id } = await db()('automations').where({ automation_id: trashed.automation_id }).first();
    await db()('projects')
      .where({ project_id })
      .update({ deleted_at: new Date(), deleted_by: team.admin.user_id, cascade_id: project_id });
    const refusals = await Promise.all([...all, '/api/hooks/svc_hook_nothing', '/api/hooks/x'].map((to) => call(to, {})));
    const shown = refusals.map(({ status, body: { error, message, detail } }) =>
      JSON.stringify([status, error, message, detail]),
    );
    expect(new Set(shown).size).toBe(1);
    expect(refusals[0]?.status).toBe(404);
    expect(await db()('automation_hooks').where({ automation_id: gone.automation_id })).toEqual([]);
  });

  it('404 once the creator is suspended', async () => {
    const automation = await make();
    const to = await address(automation, team.admin);
    await db()('users').where({ user_id: team.member.user_id }).update({ status: 'suspended' });
    expect((await call(to, {})).status).toBe(404);
  });

  it('an address replaced is dead, and one that is called meanwhile starts something or is refused', async () => {
    const automation = await make();
    let to = await address(automation);
    for (let round = 0; round < ROUNDS; round += 1) {
      const [answer, next] = await Promise.all([call(to, { round }), address(automation)]);
      expect([202, 404]).toContain(answer.status);
      const started = (await runsOf(automation)).filter(({ event }) => event.body.round === round);
      expect(started).toHaveLength(answer.status === 202 ? 1 : 0);
      expect((await call(to, {})).status).toBe(404);
      to = next;
    }
    expect((await call(to, {})).status).toBe(202);
  });
});

describe('what is refused of a known address', () => {
  it.each([
    ['no JSON', '{"a":', 400],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400],
    ['too deep', '['.repeat(100) + ']'.repeat(100), 400],
    ['a NUL character', '{"a":{"b":["x\\u0000"]}}', 400],
    ['a NUL character in a name', '{"a\\u0000":1}', 400],
    ['half of a pair', '{"a":"\\ud800"}', 400],
    ['a number that is too large', '{"a":1e999}', 400],
    ['a prototype', '{"a":{"__proto__":{"is_admin":true}}}', 400],
    ['more than 64 kB', JSON.stringify({ a: 'x'.repeat(70_000) }), 413],
    ['more than 64 kB as it is stored', JSON.stringify({ b: 'x'.repeat(65_500) }), 413],
  ])('%s', async (_name, raw, status) => {
    const automation = await make();
    const to = await address(automation);
    const answer = await send(to, raw);
    expect([answer.status, typeof answer.body.message]).toEqual([status, 'string']);
    expect(await runsOf(automation)).toEqual([]);
    expect((await send(to, '{"constructor":1,"large":12345678901234567890,"toString":"x"}')).status).toBe(202);
  });

  it('a query with a NUL character, a bad key, and what the panel says of it', async () => {
    const automation = await make();
    const to = await address(automation);
    expect((await call(`${to}?a=%00`, {})).body.message).toBe('The query holds a NUL character');
    expect((await call(to, {}, { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
    const hook = (await app.as(team.guest).get(automation.path)).body;
    expect(hook).toMatchObject({ calls: 0, last_call_at: null, last_refusal: 'The query holds a NUL character' });
  });

  it('more calls than the limit of its address: 429, and another address goes on', async () => {
    const limited = await startApp({ RATE_LIMIT_AUTOMATION_HOOK: '2' });
    try {
      const own = await buildTeam(limited);
      const addresses = await Promise.all(
        [1, 2].map(async () => {
          const body = { name: 'x', trigger_type: 'webhook', team_id: own.team_id };
          const { automation_id } = (await limited.as(own.member).post('/api/automations', body)).body;
          const made = await limited.as(own.member).post(`/api/automations/${automation_id}/hook`, {});
          return new URL(made.body.url).pathname;
        }),
      );
      const [first, second] = addresses as [string, string];
      for (const status of [202, 202, 429, 429]) expect((await limited.as().post(first, {})).status).toBe(status);
      expect(Number((await limited.as().post(first, {})).headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await limited.as().post(second, {})).status).toBe(202);
      expect((await limited.as().post('/api/hooks/unknown', {})).status).toBe(404);
    } finally {
      await limited.close();
    }
  });
});

describe('a repetition', () => {
  it.each(['idempotency-key', 'webhook-id'])('with the same %s starts nothing twice, also at the same moment', async (name) => {
    const automation = await make();
    const to = await address(automation);
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all([1, 2, 3].map(() => call(to, { round }, { [name]: `key ${round}` })));
      answers.push(await call(to, { round }, { [name]: `key ${round}` }));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
      expect(new Set(answers.map(({ body }) => body.delivery_id)).size).toBe(1);
    }
    expect(await runsOf(automation)).toHaveLength(ROUNDS);
  });

  it('after a day is another call, and housekeeping forgets its key', async () => {
    const automation = await make();
    const to = await address(automation);
    const age = () => db().raw("update automation_hook_calls set called_at = called_at - interval '25 hours'");
    await call(to, {}, { 'idempotency-key': 'one' });
    await age();
    await call(to, {}, { 'idempotency-key': 'one' });
    expect(await runsOf(automation)).toHaveLength(2);
    const keys = () => db()('automation_hook_calls').where({ automation_id: automation.automation_id });
    await deleteOldCalls(db());
    expect(await keys()).toHaveLength(1);
    await age();
    await deleteOldCalls(db());
    expect(await keys()).toEqual([]);
  });

  it('belongs to one address: the same key elsewhere is another call', async () => {
    const [one, two] = [await make(), await make()];
    for (const each of [one, two]) await call(await address(each), {}, { 'webhook-id': 'same' });
    expect([await runsOf(one), await runsOf(two)].map(({ length }) => length)).toEqual([1, 1]);
  });
});

describe('who is behind a call', () => {
  /** The header of a request that an action of a run sends. */
  const named = ({ run_id }: { run_id: string }, index: number) => ({
    'assent-run': nameCaller(app.services.config, `${run_id}:${index}`),
  });

  it('the user who made the address, the one who enabled the automation and its creator; a later address is of its own maker', async () => {
    const automation = await make();
    await call(await address(automation, team.manager), { n: 1 });
    await call(await address(automation, team.admin), { n: 2 });
    const [first, second] = await runsOf(automation);
    expect(await peopleOf(first.run_id)).toEqual([team.member.user_id, team.manager.user_id].toSorted());
    expect(await peopleOf(second.run_id)).toEqual([team.member.user_id, team.admin.user_id].toSorted());
  });

  it('the users behind a run that calls it, which is as deep as one more; too deep a call starts nothing', async () => {
    const automation = await make();
    const caller = await make({}, team.manager);
    await call(await address(caller, team.manager), {});
    const [calling] = await runsOf(caller);
    const to = await address(automation);
    await call(to, {}, named(calling, 1));
    const [run] = await runsOf(automation);
    expect(run.depth).toBe(1);
    expect(await peopleOf(run.run_id)).toContain(team.manager.user_id);
    // Its author may have chosen the key.
    await call(to, {}, { 'idempotency-key': 'of its author', ...named(calling, 1) });
    const [, keyed] = await runsOf(automation);
    expect(keyed.depth).toBe(1);
    expect(await peopleOf(keyed.run_id)).toContain(team.manager.user_id);
    await db()('automation_runs').where({ run_id: calling.run_id }).update({ depth: 10 });
    expect((await call(to, {}, named(calling, 2))).status).toBe(202);
    expect(await runsOf(automation)).toHaveLength(2);
    expect(await db()('skipped_runs').where({ automation_id: automation.automation_id })).toMatchObject([{ is_loop: true }]);
  });

  it('no run that anybody else names', async () => {
    const automation = await make();
    await call(await address(automation), {});
    const [first] = await runsOf(automation);
    const to = await address(automation);
    const key = `${first.run_id}:0`;
    const [, signature] = nameCaller(app.services.config, `${first.run_id}:1`).split(' ');
    const forged = [
      key,
      `${key} ${'0'.repeat(64)}`,
      `${key} ${signature}`,
      nameCaller({ ...app.services.config, SECRETS_MASTER_KEY: randomBytes(32).toString('base64') }, key),
    ];
    for (const name of forged) await call(to, {}, { 'assent-run': name, 'idempotency-key': randomUUID() });
    await call(to, {}, { 'idempotency-key': key });
    expect((await runsOf(automation)).map(({ depth }) => depth)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('nobody of another team, even if its run calls', async () => {
    const foreign = await buildTeam(app);
    const automation = await make();
    const own = team;
    team = foreign;
    const theirs = await make();
    await call(await address(theirs), {});
    const [calling] = await runsOf(theirs);
    team = own;
    await call(await address(automation), {}, named(calling, 0));
    const [run] = await runsOf(automation);
    expect(run.depth).toBe(1);
    expect(await peopleOf(run.run_id)).toEqual([team.member.user_id]);
  });

  it('what the caller says of records is no fact of the run', async () => {
    const automation = await make();
    const { task_id } = (await app.as(team.member).post('/api/tasks', { title: 'Real', ...(await buildProject(app, team)) }))
      .body;
    const forged = { title: 'Forged', repo: 'acme/x', task: { task_id, title: 'Forged' } };
    await call(await address(automation), { ...forged, type: 'task.created', team_id: 'x', actor_id: team.admin.user_id });
    const [run] = await runsOf(automation);
    expect(run.event).toMatchObject({ type: 'webhook', team_id: team.team_id, actor_id: null });
    expect(run.event.task).toBeUndefined();
    const decision = (await app.as(team.manager).get(`/api/automations/runs/${run.run_id}`)).body;
    expect(JSON.stringify({ ...decision, event: null })).not.toContain('Forged');
  });
});

it('loses its address when it gets another trigger, and has none when it gets the first one back', async () => {
  const automation = await make();
  const to = await address(automation);
  const change = (trigger_type: string) =>
    app.as(team.member).patch(`/api/automations/${automation.automation_id}`, { trigger_type });
  expect((await call(to, {})).status).toBe(202);
  for (const trigger of ['manual', 'webhook']) expect((await change(trigger)).status).toBe(200);
  expect((await call(to, {})).status).toBe(404);
  expect(await db()('automation_hooks').where({ automation_id: automation.automation_id })).toEqual([]);
});

describe('a signed address', () => {
  const sign = (secret: string, id: string, body: string, at = Date.now()) => signatureHeaders([secret], id, body, at);
  async function signed() {
    const automation = await make();
    const { body } = await app.as(team.member).post(automation.path, { signed: true });
    return { automation, to: new URL(body.url).pathname, secret: body.secret as string };
  }
  const post = (to: string, raw: string, headers: Record<string, string>) => app.as().post(to, undefined, { raw, headers });

  it('takes what its secret has signed, once for one webhook-id, whatever other key comes with it', async () => {
    const { automation, to, secret } = await signed();
    const raw = JSON.stringify({ title: 'Schön ✓' });
    const headers = sign(secret, 'msg_1', raw);
    expect((await post(to, raw, headers)).status).toBe(202);
    expect((await post(to, raw, { ...headers, 'idempotency-key': 'another' })).status).toBe(202);
    const both = `v1,AAAA ${headers['webhook-signature']}`;
    expect((await post(to, raw, { ...headers, 'webhook-signature': both })).status).toBe(202);
    expect(await runsOf(automation)).toHaveLength(1);
    expect((await app.as(team.guest).get(automation.path)).body).toMatchObject({ is_signed: true, calls: 3 });
  });

  it('401 for anything else, and the panel says so', async () => {
    const { automation, to, secret } = await signed();
    const good = sign(secret, 'msg_1', '{}');
    const minutes = (count: number) => Date.now() + count * 60_000;
    for (const headers of [
      {},
      { ...good, 'webhook-id': 'msg_2' },
      { ...good, 'webhook-signature': 'v1,' },
      { ...good, 'webhook-timestamp': 'now' },
      sign(newWebhookSecret(), 'msg_1', '{}'),
      sign(secret, 'msg_1', '{"a":1}'),
      sign(secret, 'msg_1', '{}', minutes(-6)),
      sign(secret, 'msg_1', '{}', minutes(6)),
    ]) {
      expect((await post(to, '{}', headers as Record<string, string>)).status).toBe(401);
    }
    expect(await runsOf(automation)).toEqual([]);
    expect((await app.as(team.guest).get(automation.path)).body.last_refusal).toBe('Missing or invalid signature');
    const [stored] = await db()('automation_hooks').where({ automation_id: automation.automation_id });
    expect(stored.sealed_value.toString('latin1')).not.toContain(secret.slice(6));
    // Replaced without a signature: the address alone is the secret.
    expect((await call(await address(automation), {})).status).toBe(202);
  });
});

describe('the address of an automation', () => {
  it('is shown once, is stored as a hash, and leaves entries without it', async () => {
    const automation = await make();
    const to = await address(automation);
    const token = to.split('/').at(-1) as string;
    expect(token).toMatch(/^svc_hook_[\w-]{43}$/);
    await address(automation);
    await app.as(team.member).delete(automation.path);
    const entries = await db()('audit_entries').where({ entity_id: automation.automation_id }).orderBy('timestamp');
    expect(entries.map(({ action }) => action)).toEqual(['create', 'rotate', 'rotate', 'revoke']);
    expect(JSON.stringify([entries, await db()('activity')])).not.toContain(token);
    expect((await app.as(team.member).get(automation.path)).status).toBe(404);
  });

  it('replaces only the one that the caller has seen, and one of two at once', async () => {
    const automation = await make();
    const post = (replaces: string | null) => app.as(team.member).post(automation.path, { replaces });
    const first = await Promise.all([post(null), post(null)]);
    expect(first.map(({ status }) => status).toSorted((one, two) => one - two)).toEqual([201, 409]);
    const { hook_id } = (await app.as(team.member).get(automation.path)).body;
    expect((await post(hook_id)).status).toBe(201);
    expect((await post(hook_id)).status).toBe(409);
  });

  it('409 for another trigger; 403 for members about another’s, for guests, and below admin if it is protected', async () => {
    const other = await make({ trigger_type: 'manual', actions: [] });
    expect((await app.as(team.member).post(other.path, {})).status).toBe(409);
    const automation = await make({}, team.manager);
    for (const person of [team.member, team.guest]) expect((await app.as(person).post(automation.path, {})).status).toBe(403);
    await app.as(team.admin).patch(`/api/automations/${automation.automation_id}`, { is_protected: true });
    expect((await app.as(team.manager).post(automation.path, {})).status).toBe(403);
    expect((await app.as(team.admin).post(automation.path, {})).status).toBe(201);
    expect((await app.as(await buildPerson(app)).get(automation.path)).status).toBe(403);
  });
});

it('logs hold no token, not even of a call that fails', async () => {
  const lines: string[] = [];
  const automation = await make();
  const to = await address(automation);
  const { log } = app.services;
  Object.assign(app.services, { log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) });
  try {
    await db().raw('alter table automation_hooks rename column calls to calls_gone');
    expect((await call(to, {})).status).toBe(500);
    await db().raw('alter table automation_hooks rename column calls_gone to calls');
    expect((await call(to, {})).status).toBe(202);
  } finally {
    Object.assign(app.services, { log });
  }
  expect(lines.join('')).toContain('request failed');
  expect(lines.join('')).toContain('/api/hooks/:token');
  expect(lines.join('')).not.toContain('svc_hook_');
});
