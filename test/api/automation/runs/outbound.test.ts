import { nameCaller } from '../../../../api/automation/actions/calling-run.js';
import { Webhook } from 'standardwebhooks';
import { LOCAL_BEFORE } from '../../../../api/automation/actions/rules.js';
import { isSent } from '../../../../api/automation/actions/registry.js';
import { performOutbound } from '../../../../api/automation/runs/execution/perform-outbound.js';
import { buildTeam, leave, type TestTeam, UNSEATED } from '../../../factories/people.js';
import { buildRun, GATE } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { SPELLINGS } from '../../../support/encodings.js';

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

type Action = { type: string; params: Record<string, unknown>; retry?: { max_attempts: number }; on_failure?: 'stop' };
const request = (params: Record<string, unknown> = {}, more: Partial<Action> = {}): Action => ({
  type: 'http_request',
  params: { method: 'post', url: `${receiver.url}/hook`, ...params },
  ...more,
});
const once = { retry: { max_attempts: 1 } };
/** A secret that may be sent to the receiver. */
const save = (name: string, value: string) =>
  app.as(team.admin).post('/api/automations/secrets', { team_id: team.team_id, name, value, allowed_hosts: ['127.0.0.1'] });

/** A run at its first action; `event` is a merged pull request number 12. */
const begin = (actions: Action[], options: Parameters<typeof buildRun>[2] = {}) =>
  buildRun(app, team, { actions, status: 'running', statuses: actions.map(() => 'pending'), ...options });
const carrier = (run: { run_id: string }) => ({ runId: run.run_id, incarnation: 1, execution: 'an-execution' });
const act = (run: { run_id: string }, index = 0) => performOutbound(app.services, carrier(run), index);
const getStep = (run: { run_id: string }, index = 0) =>
  app.services.db('run_actions').where({ run_id: run.run_id, index }).first();
/** The next try has come, by the row. */
const makeDue = (run: { run_id: string }) =>
  app.services.db('run_actions').where({ run_id: run.run_id, status: 'running' }).update({ due_at: app.services.db.fn.now() });
const getStatus = async ({ run_id }: { run_id: string }) =>
  (await app.services.db('automation_runs').where({ run_id }).first('status')).status;
const cancel = (run: { run_id: string }) => app.as(team.manager).post(`/api/automations/runs/${run.run_id}/cancel`);
const remove = (run: { automation_id: string }) => app.as(team.manager).delete(`/api/automations/${run.automation_id}`);

it('runs that an earlier version started find their actions on the same queue', () => {
  for (const type of LOCAL_BEFORE) expect([type, isSent(type)]).toEqual([type, false]);
});

it('are listed as available, and refused when saved with what cannot be sent', async () => {
  const { actions } = (await app.as(team.guest).get('/api/automations/actions/types')).body;
  for (const type of ['http_request', 'send_webhook']) {
    expect(actions.find((action: Action) => action.type === type)).toMatchObject({ available: true, connected: true });
  }
  const create = (action: object) =>
    app.as(team.member).post('/api/automations', {
      name: 'A',
      trigger_type: 'task.created',
      team_id: team.team_id,
      actions: [{ type: 'http_request', method: 'GET', url: 'https://example.com', ...action }],
    });
  const wrong = [
    { method: 'CONNECT' },
    { method: 'TRACE' },
    { url: 'file:///etc/passwd' },
    { url: 'nowhere' },
    { headers: { a: [] } },
  ];
  for (const params of wrong) expect(await create(params)).toMatchObject({ status: 400 });
  for (const params of [
    { body: { '{{secret:TOKEN}}': 1 } },
    { body: [{ a: { '{{event.a}}': 1 } }] },
    { headers: { '{{secret:TOKEN}}': 'a' } },
  ])
    expect(await create(params)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/A name holds no template.*at character 0/) },
    });
  for (const params of [{ method: '{{event.method}}' }, { url: '{{event.url}}' }, { url: 'https://{{event.host}}/' }]) {
    expect((await create(params)).status).toBe(201);
  }
});

describe('http_request', () => {
  it('sends what its templates say, with its key, and records the answer', async () => {
    await save('TOKEN', 's3cret-value');
    const run = await begin([
      request({
        headers: { Authorization: 'Bearer {{secret:TOKEN}}', 'X-Number': '{{event.pr_number}}' },
        body: { pr: '{{event.pr_number}}', text: 'PR {{event.pr_number}}' },
      }),
    ]);
    receiver.answer((_request, response) => response.writeHead(201).end('{"id":7}'));
    expect(await act(run)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
    expect(receiver.received).toMatchObject([
      {
        method: 'POST',
        url: '/hook',
        body: '{"pr":12,"text":"PR 12"}',
        headers: {
          authorization: 'Bearer s3cret-value',
          'content-type': 'application/json',
          'x-number': '12',
          'idempotency-key': `${run.run_id}:0`,
          'assent-run': nameCaller(app.services.config, `${run.run_id}:0`),
          'user-agent': 'Assent',
        },
      },
    ]);
    expect(await getStep(run)).toMatchObject({ status: 'succeeded', attempts: 1, output: { status: 201, body: '{"id":7}' } });
    expect(await app.services.db('effects').where({ run_id: run.run_id })).toMatchObject([
      { action_index: 0, entity_type: 'http_request', entity_id: `${run.run_id}:0` },
    ]);
    const shown = (await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`)).body;
    expect(shown.actions[0].output).toEqual({ status: 201, body: '{"id":7}' });
  });

  it('names its run whatever headers its author gives', async () => {
    const headers = { 'Idempotency-Key': 'mine', 'Assent-Run': 'another' };
    const run = await begin([request({ headers })]);
    await act(run);
    expect(receiver.received[0]?.headers).toMatchObject({
      'idempotency-key': 'mine',
      'assent-run': nameCaller(app.services.config, `${run.run_id}:0`),
    });
  });

  it('asked again after a lost answer it says what became of it and sends nothing', async () => {
    const run = await begin([request(), request()]);
    expect(await act(run)).toEqual({ outcome: 'succeeded' });
    expect(await act(run)).toEqual({ outcome: 'succeeded' });
    expect(await act(run, 1)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
    expect(await act(run, 1)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
    expect(receiver.received).toHaveLength(2);
  });

  it('is tried again where that may help, with the same key, and then fails', async () => {
    const run = await begin([request()]);
    receiver.answer((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end('busy'));
    for (const attempts of [1, 2]) {
      const told = await act(run);
      expect(told).toMatchObject({ outcome: 'waiting', wait: { msLeft: 7_000, attempt: { next: attempts + 1, of: 3 } } });
      const error = { code: 'http_status', message: 'The receiver returned 503' };
      expect(await getStep(run)).toMatchObject({ status: 'running', attempts, error, due_at: new Date(told.wait?.until ?? '') });
      const [shown] = (await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`)).body.actions;
      expect(shown).toMatchObject({ status: 'running', attempts, error, due_at: told.wait?.until });
      // Asked too early, by a wake or by a workflow that starts anew, it only says how long it is still.
      expect(await act(run)).toMatchObject({ outcome: 'waiting', wait: { attempt: { next: attempts + 1, of: 3 } } });
      expect(receiver.received).toHaveLength(attempts);
      await makeDue(run);
    }
    expect(await act(run)).toEqual({ outcome: 'failed', code: 'http_status', ended: 'failed' });
    expect(await getStep(run)).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { code: 'http_status' },
      output: { status: 503 },
    });
    expect(new Set(receiver.received.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([`${run.run_id}:0`]));
    expect(receiver.received).toHaveLength(3);
    expect(await app.services.db('effects').where({ run_id: run.run_id })).toEqual([]);
  });

  it.each([
    [302, 'http_status'],
    [400, 'http_status'],
    [404, 'http_status'],
    [410, 'http_status'],
  ])('an answer of %i fails at once', async (status, code) => {
    receiver.answer((_request, response) => response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end());
    const run = await begin([request()]);
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect(await getStep(run)).toMatchObject({ error: { code }, attempts: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['the inside of the network', { url: 'http://169.254.169.254/latest/meta-data' }, 'url_blocked'],
    ['an address from the event', { url: 'http://10.0.0.{{event.pr_number}}/' }, 'url_blocked'],
    ['a header from the event', { headers: { 'X-A': '{{event.text}}' } }, 'header_invalid'],
    ['a header that is ours', { headers: { Host: 'inside.example' } }, 'header_invalid'],
    ['a path that is not there', { body: '{{event.nothing}}' }, 'template_missing'],
    ['a secret that is not there', { url: 'http://127.0.0.1:1/?{{secret:NONE}}' }, 'secret_missing'],
    ['a method from the event', { method: '{{event.text}}' }, 'invalid_request'],
  ])('%s: %j', async (_what, params, code) => {
    const event = JSON.stringify({ type: 'task.created', pr_number: 12, text: 'a\r\nX-Injected: 1' });
    const run = await begin([request(params)], { fields: { event } });
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(run)).error.code).toBe(code);
    expect(receiver.received).toEqual([]);
  });

  it('nobody listens: tried again, then recorded without words of the system', async () => {
    const run = await begin([request({ url: 'http://127.0.0.1:1/' }, { retry: { max_attempts: 2 } })]);
    expect(await act(run)).toMatchObject({ outcome: 'waiting', wait: { msLeft: 1_000 } });
    await makeDue(run);
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(run)).error).toEqual({ code: 'connection_failed', message: 'Connection failed' });
  });

  it('a worker that died while it waited has used up its attempt', async () => {
    const run = await begin([request({}, { retry: { max_attempts: 2 } })]);
    await app.services.db('run_actions').where({ run_id: run.run_id }).update({ attempts: 2, status: 'running' });
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect(await getStep(run)).toMatchObject({ error: { code: 'no_answer' } });
    expect(receiver.received).toEqual([]);
  });

  it.each([
    [200, { status: 'succeeded', error: null }],
    [400, { status: 'failed', error: { code: 'http_status', message: 'The receiver returned 400' } }],
    [503, { status: 'failed', error: { code: 'http_status', message: 'The receiver returned 503' } }],
  ])(
    'a run cancelled during a request stays so; that its outcome is not known stands there until it is: %i',
    async (code, known) => {
      const run = await begin([request(), request()]);
      let meanwhile: unknown;
      receiver.answer((_request, response) => {
        void cancel(run).then(async () => {
          meanwhile = await getStep(run);
          response.writeHead(code).end('said');
        });
      });
      expect(await act(run)).toMatchObject({ ended: 'cancelled' });
      const unknown = { code: 'outcome_unknown', message: 'The run ended before a response arrived' };
      expect(meanwhile).toMatchObject({
        status: 'failed',
        attempts: 1,
        error: unknown,
        finished_at: expect.any(Date),
        output: null,
      });
      expect(await getStep(run)).toMatchObject({ ...known, attempts: 1, output: { status: code, body: 'said' } });
      expect(await getStep(run, 1)).toMatchObject({ status: 'skipped', error: null, finished_at: null });
      expect(await getStatus(run)).toBe('cancelled');
      const effects = await app.services.db('effects').where({ run_id: run.run_id }).pluck('entity_id');
      expect(effects).toEqual(code === 200 ? [`${run.run_id}:0`] : []);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it('a run cancelled after its worker died says that nobody knows; one between two tries, what the last one brought', async () => {
    const dead = await begin([request()]);
    const { db } = app.services;
    await db('run_actions').where({ run_id: dead.run_id }).update({ status: 'running', attempts: 1, started_at: db.fn.now() });
    expect((await cancel(dead)).status).toBe(200);
    expect(await act(dead)).toMatchObject({ ended: 'cancelled' });
    expect(await getStep(dead)).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'outcome_unknown' } });
    expect(receiver.received).toEqual([]);
    const refused = await begin([request()]);
    receiver.answer((_request, response) => response.writeHead(503).end());
    await act(refused);
    await cancel(refused);
    expect(await getStep(refused)).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'http_status' } });
    expect((await getStep(refused)).finished_at).not.toBeNull();
    // While the second try is under way nobody knows what it brings, whatever the first one brought.
    const second = await begin([request()]);
    await act(second);
    await makeDue(second);
    let meanwhile: unknown;
    receiver.answer((_request, response) => {
      void cancel(second).then(async () => {
        meanwhile = await getStep(second);
        response.end();
      });
    });
    await act(second);
    expect(meanwhile).toMatchObject({ status: 'failed', attempts: 2, error: { code: 'outcome_unknown' } });
    expect(await getStep(second)).toMatchObject({ status: 'succeeded', attempts: 2, error: null });
  });

  it('nobody waits longer than ten minutes because a receiver asks for it', async () => {
    const run = await begin([request()]);
    receiver.answer((_request, response) => response.writeHead(429, { 'retry-after': '86400' }).end());
    expect(await act(run)).toMatchObject({ wait: { msLeft: 600_000 } });
  });

  it('while it waits for its next try it ends with its automation, and nothing more is sent or done', async () => {
    const run = await begin([request(), request()]);
    receiver.answer((_request, response) => response.writeHead(503, { 'retry-after': '5' }).end());
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    expect((await remove(run)).body.cancelled_runs).toBe(1);
    await makeDue(run);
    expect(await act(run)).toMatchObject({ ended: 'cancelled' });
    expect(receiver.received).toHaveLength(1);
    expect(await getStatus(run)).toBe('cancelled');
  });

  it.each([
    ['that goes well', 200],
    ['that may go well the next time', 503],
  ])('an automation deleted during a request %s: its run ends with the answer', async (_what, status) => {
    const run = await begin([request(), request()]);
    receiver.answer((_request, response) => void remove(run).then(() => response.writeHead(status).end()));
    expect(await act(run)).toMatchObject({ ended: 'cancelled' });
    expect(await getStatus(run)).toBe('cancelled');
    expect(await getStep(run)).toMatchObject({ attempts: 1, output: status === 200 ? { status } : null });
    expect(await getStep(run, 1)).toMatchObject({ status: 'skipped', attempts: 0 });
    expect(await act(run, 1)).toMatchObject({ ended: 'cancelled' });
    expect(receiver.received).toHaveLength(1);
  });

  it('nothing is sent for an automation that was deleted before: by the step before it, or while its worker was dead', async () => {
    const between = await begin([request(), request()]);
    const { db } = app.services;
    await db('automations').where({ automation_id: between.automation_id }).update({ deleted_at: db.fn.now(), is_active: false });
    expect(await act(between)).toMatchObject({ ended: 'cancelled' });
    expect(await getStep(between)).toMatchObject({ status: 'skipped', attempts: 0 });
    const dead = await begin([request()]);
    await db('run_actions').where({ run_id: dead.run_id }).update({ status: 'running', attempts: 1, started_at: db.fn.now() });
    expect((await remove(dead)).body.cancelled_runs).toBe(0);
    expect(await act(dead)).toMatchObject({ ended: 'cancelled' });
    expect(await getStep(dead)).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'outcome_unknown' } });
    expect(receiver.received).toEqual([]);
  });

  it('a late failure of an attempt taken for dead leaves the next one under way', async () => {
    const run = await begin([request()]);
    const { db } = app.services;
    receiver.answer((_request, response) => {
      const next = db('run_actions').where({ run_id: run.run_id }).update({ attempts: 2 });
      void next.then(() => response.writeHead(503).end());
    });
    await act(run);
    expect(await getStep(run)).toMatchObject({ status: 'running', attempts: 2, due_at: null, error: null });
  });

  it.each(UNSEATED)(
    'a creator who %s sends nothing, of whatever kind, and the run ends with that reason',
    async (_what, lose, message) => {
      await save('TOKEN', 's3cret-value');
      await save('WEBHOOK_SIGNING_KEY', 'key');
      const actions = [
        request({ headers: { authorization: '{{secret:TOKEN}}' } }),
        { type: 'send_webhook', params: { url: receiver.url } },
      ];
      const run = await begin(actions);
      await lose(app, team, team.member);
      for (const index of actions.keys()) expect(await act(run, index)).toMatchObject({ outcome: 'failed' });
      for (const index of actions.keys())
        expect((await getStep(run, index)).error).toEqual({ code: 'creator_not_authorized', message });
      expect(await app.services.db('automation_runs').where({ run_id: run.run_id }).first()).toMatchObject({
        status: 'failed',
        error: { code: 'creator_not_authorized' },
      });
      expect(receiver.received).toEqual([]);
    },
  );

  it('is not tried again for a creator who left in between', async () => {
    const run = await begin([request()]);
    receiver.answer((_request, response) => response.writeHead(503).end());
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    await leave(app, team, team.member);
    await makeDue(run);
    expect(await act(run)).toMatchObject({ outcome: 'failed', ended: 'failed' });
    expect((await getStep(run)).error.code).toBe('creator_not_authorized');
    expect(receiver.received).toHaveLength(1);
  });

  it('of a personal automation needs no membership', async () => {
    const run = await begin([request()], { inTeam: false });
    await leave(app, team, team.member);
    expect(await act(run)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
  });

  it('holds no transaction open while it waits', async () => {
    const run = await begin([request()]);
    let open: unknown;
    receiver.answer((_request, response) => {
      const sql = "select count(*)::int as n from pg_stat_activity where datname = current_database() and state like 'idle in%'";
      void app.services.db.raw<{ rows: { n: number }[] }>(sql).then(({ rows }) => {
        open = rows[0]?.n;
        response.end();
      });
    });
    await act(run);
    expect(open).toBe(0);
  });
});

it('a test run sends nothing, shows what it would send without a secret, and refuses what a real one would', async () => {
  await save('KEY', 's3cret-value');
  const actions = [
    request({ body: 'PR {{event.pr_number}} {{secret:KEY}}' }),
    request({ body: '{{secret:NONE}}' }),
    request({ url: '{{event.type}}' }),
    { type: 'send_webhook', params: { url: receiver.url } },
  ];
  const run = await begin(actions, { fields: { is_test: true } });
  for (const index of actions.keys()) await act(run, index);
  const steps = await app.services.db('run_actions').where({ run_id: run.run_id }).orderBy('index');
  expect(steps.map(({ status, error }) => error?.code ?? status)).toEqual([
    'succeeded',
    'secret_missing',
    'invalid_request',
    'secret_missing',
  ]);
  expect(steps[0].output).toEqual({
    simulated: true,
    would: 'Send an HTTP request',
    params: { method: 'post', url: `${receiver.url}/hook`, body: 'PR 12 {{secret:KEY}}' },
  });
  expect(receiver.received).toEqual([]);
  expect(await app.services.db('effects').where({ run_id: run.run_id })).toEqual([]);
});

describe('secrets', () => {
  it('the newest value is used, and one that has gone fails the action, whatever was there when the run paused', async () => {
    await save('KEY', 'first-value');
    const paused = await buildRun(app, team, {
      actions: [GATE, request({ body: '{{secret:KEY}}' }), request({ body: '{{secret:KEY}}' })],
      statuses: ['succeeded', 'staged', 'staged'],
    });
    await save('KEY', 'second-value');
    expect(await act(paused, 1)).toEqual({ outcome: 'succeeded' });
    await app.as(team.admin).delete(`/api/automations/secrets/KEY?team_id=${team.team_id}&force=true`);
    expect(await act(paused, 2)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(paused, 2)).error).toEqual({ code: 'secret_missing', message: 'Secret KEY does not exist' });
    expect(receiver.received.map(({ body }) => body)).toEqual(['second-value']);
  });

  it('a personal automation has none, nor one of another team', async () => {
    await save('KEY', 'value-of-the-team');
    const personal = await begin([request({ body: '{{secret:KEY}}' })], { inTeam: false });
    expect(await act(personal)).toMatchObject({ outcome: 'failed' });
    const other = await buildTeam(app);
    const foreign = await buildRun(app, other, {
      actions: [request({ body: '{{secret:KEY}}' })],
      status: 'running',
      statuses: ['pending'],
    });
    expect(await act(foreign)).toMatchObject({ outcome: 'failed' });
    expect(receiver.received).toEqual([]);
  });

  it('returns none of them in a response or an error, in any encoding, truncated or not', async () => {
    const secret = 'p@ss/w+rd "1"';
    await save('KEY', secret);
    const forms = [secret, encodeURIComponent(secret), Buffer.from(`u:${secret}`).toString('base64'), JSON.stringify(secret)];
    const bodies = [forms.join(' | '), `${'x'.repeat(65_530)}${secret}`, `${'x'.repeat(4_090)}${secret}`];
    for (const status of [200, 400]) {
      for (const body of bodies) {
        receiver.answer((_request, response) => response.writeHead(status).end(body));
        const run = await begin([request({ body: '{{secret:KEY}}' })]);
        await act(run);
        const step = JSON.stringify(await getStep(run));
        for (const form of ['p@ss', 'p%40ss', 'w+rd', Buffer.from(secret).toString('base64').slice(3, 12)])
          expect(step).not.toContain(form);
        expect((await getStep(run)).output.status).toBe(status);
      }
    }
  });

  it.each(['php', 'python', 'go', 'html', 'json'] as const)('come back in no spelling: %s', async (language) => {
    const write = SPELLINGS[language];
    const secrets = {
      SLASH: 'k3y/withSl4sh/9+Zq==',
      TAGS: 'p<w>&d-9x7abc',
      UMLAUT: 'pässwörd-ünique',
      QUOTES: 'pa"ss\\word-77',
      PEM: '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEA\n-----END KEY-----\n',
    };
    for (const [name, value] of Object.entries(secrets)) await save(name, value);
    // As httpbin does: what came as a text, once more as JSON, and the headers.
    receiver.answer(({ headers, body }, response) => {
      const inside = Object.values(JSON.parse(body) as Record<string, string>).map((value) => `"${write(value)}"`);
      response.end(`{"data":"${write(body)}","json":[${inside.join()}],"key":"${write(String(headers['x-key']))}","kept":1}`);
    });
    const body = Object.fromEntries(Object.keys(secrets).map((name) => [name.toLowerCase(), `{{secret:${name}}}`]));
    const run = await begin([request({ headers: { 'X-Key': '{{secret:SLASH}} {{secret:TAGS}}' }, body })]);
    expect(await act(run)).toMatchObject({ outcome: 'succeeded' });
    const shown = (await app.as(team.guest).get(`/api/automations/runs/${run.run_id}`)).body.actions[0].output.body as string;
    expect(shown).toContain('"kept":1}');
    expect(shown.match(/\[secret\]/g)).toHaveLength(12);
    const parts = Object.values(secrets).flatMap((value) => value.match(/[a-z0-9]{3,}/gi) as string[]);
    for (const part of parts) expect(shown).not.toContain(part);
  });

  it('a value that breaks the request is not told: neither in the record nor in the log', async () => {
    const lines: unknown[] = [];
    const log = { ...app.services.log, error: (...line: unknown[]) => lines.push(line) } as unknown as typeof app.services.log;
    await save('BROKEN', 'canary\nX-Injected: 1');
    const actions = [
      request({ headers: { 'X-A': '{{secret:BROKEN}}' } }),
      request({ url: 'http://127.0.0.1:1/{{secret:BROKEN}}' }, once),
      request({ url: '{{secret:BROKEN}}' }),
      request({ method: '{{secret:BROKEN}}' }),
      request({ headers: { 'X-A': ['{{secret:BROKEN}}'] } }),
    ];
    const run = await begin([]).then(async (empty) => {
      const rows = actions.map(({ type }, index) => ({ run_id: empty.run_id, index, type, status: 'pending' }));
      await app.services.db('run_actions').insert(rows);
      await app.services
        .db('automation_versions')
        .where({ automation_id: empty.automation_id })
        .update({ actions: JSON.stringify(actions) });
      return empty;
    });
    for (const index of actions.keys()) await performOutbound({ ...app.services, log }, carrier(run), index);
    const steps = await app.services.db('run_actions').where({ run_id: run.run_id }).orderBy('index');
    expect(steps.map(({ error }) => error.code)).toEqual([
      'header_invalid',
      'connection_failed',
      'secret_host_refused',
      'invalid_request',
      'invalid_request',
    ]);
    expect(JSON.stringify([steps, lines])).not.toContain('canary');
  });

  it('a key that is not at hand is told as such', async () => {
    await save('KEY', 'v');
    const run = await begin([request({ body: '{{secret:KEY}}' })]);
    const config = { ...app.services.config, SECRETS_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') };
    expect(await performOutbound({ ...app.services, config }, carrier(run), 0)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(run)).error.code).toBe('secret_unreadable');
  });
});

describe('send_webhook', () => {
  const hook = (params: Record<string, unknown> = {}): Action => ({
    type: 'send_webhook',
    params: { url: receiver.url, ...params },
  });

  it.each(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'any other text'])(
    'is signed as published libraries verify it: %s',
    async (key) => {
      await save('WEBHOOK_SIGNING_KEY', key);
      const run = await begin([hook({ payload: { pr: '{{event.pr_number}}' } }), hook()]);
      await act(run, 0);
      await act(run, 1);
      const verifier = key.startsWith('whsec_') ? new Webhook(key) : new Webhook(key, { format: 'raw' });
      const [own, event] = receiver.received;
      expect(verifier.verify(own?.body ?? '', own?.headers as Record<string, string>)).toEqual({ pr: 12 });
      expect(verifier.verify(event?.body ?? '', event?.headers as Record<string, string>)).toMatchObject({
        type: 'forge.pr_merged',
        data: { pr_number: 12 },
      });
      expect(own?.headers['webhook-id']).toBe(`${run.run_id}:0`);
      expect(() => verifier.verify(`${own?.body} `, own?.headers as Record<string, string>)).toThrow();
    },
  );

  it('is not sent unsigned, and its key is no secret to delete unseen', async () => {
    const run = await begin([hook()]);
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(run)).error.code).toBe('secret_missing');
    expect(receiver.received).toEqual([]);
    await save('WEBHOOK_SIGNING_KEY', 'key');
    const path = `/api/automations/secrets/WEBHOOK_SIGNING_KEY?team_id=${team.team_id}`;
    expect(await app.as(team.admin).delete(path)).toMatchObject({
      status: 409,
      body: { automations: [{ name: 'Deploy on merge' }] },
    });
  });

  it.each(['whsec_', 'whsec_*'])('is not sent with an empty key, which anybody could sign with: %s', async (key) => {
    await save('WEBHOOK_SIGNING_KEY', key);
    const run = await begin([hook()]);
    expect(await act(run)).toMatchObject({ outcome: 'failed' });
    expect((await getStep(run)).error.code).toBe('secret_missing');
    expect(receiver.received).toEqual([]);
  });

  it('keeps its id over its attempts', async () => {
    await save('WEBHOOK_SIGNING_KEY', 'key');
    const run = await begin([{ ...hook(), retry: { max_attempts: 2 } }]);
    receiver.answer((_request, response) => response.writeHead(500).end());
    expect(await act(run)).toMatchObject({ outcome: 'waiting' });
    await makeDue(run);
    await act(run);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([`${run.run_id}:0`, `${run.run_id}:0`]);
  });
});
