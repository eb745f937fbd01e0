import { once } from 'node:events';
import { request } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import { sign } from '../../../../api/integrations/forge/deliveries/signature.js';
import { realDeliveries } from '../../../../scripts/fixtures/forge-payloads.js';
import { buildPerson } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { post, findReceipt, relay, send } from './deliver.js';

const SECRET = "It's a Secret to Everybody";
const PREVIOUS = 'the secret before it';
const BODY = '{"repository":{"full_name":"acme/rocket"},"ref":"refs/heads/main","commits":[]}';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ FORGE_WEBHOOK_SECRET: SECRET, FORGE_WEBHOOK_SECRET_PREVIOUS: PREVIOUS });
});
afterAll(() => app.close());

const db = () => app.services.db;
const getStatus = async (of = app) => (await of.as(await buildPerson(of)).get('/api/forge/webhooks/status')).body;
const describeRows = (id: string) => db()('forge_deliveries').where({ delivery_id: id }).orderBy('receipt_id');
const findWork = async (id: string) =>
  db()('outbox')
    .where({ kind: 'forge.delivery' })
    .whereRaw("payload->>'receipt_id' in (select receipt_id::text from forge_deliveries where delivery_id = ?)", [id]);

describe('signature', () => {
  it.each([
    ['the forge’s documented example', 'Hello, World!', SECRET, 400],
    ['JSON with the present secret', BODY, SECRET, 200],
    ['JSON with the previous secret', BODY, PREVIOUS, 200],
    ['a byte order mark before the JSON', `\uFEFF${BODY}`, SECRET, 200],
    ['another secret', BODY, 'another', 401],
    ['the empty secret', BODY, '', 401],
  ])('%s', async (_what, body, secret, status) => {
    expect(await post(app, body, { secret })).toMatchObject({ status });
  });

  it('takes the published vector as it stands, in either case', async () => {
    const hex = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    for (const digits of [hex, hex.toUpperCase()]) {
      const answer = await post(app, 'Hello, World!', { headers: { 'x-hub-signature-256': `sha256=${digits}` } });
      expect(answer).toMatchObject({ status: 400, body: { error_code: 'INVALID_REQUEST' } });
    }
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['without its prefix', sign(Buffer.from(BODY), SECRET).slice(7)],
    ['of the older kind', `sha1=${'a'.repeat(40)}`],
    ['cut short', sign(Buffer.from(BODY), SECRET).slice(0, -1)],
    ['too long', `${sign(Buffer.from(BODY), SECRET)}0`],
    ['not hexadecimal', `sha256=${'z'.repeat(64)}`],
    ['of other bytes', sign(Buffer.from(`${BODY} `), SECRET)],
    ['given twice', `${sign(Buffer.from(BODY), SECRET)}, ${sign(Buffer.from(BODY), SECRET)}`],
  ])('401 when it is %s, and nothing is kept', async (_what, signature) => {
    const id = uuidv7();
    const answer = await app.as().post('/api/forge/webhooks', undefined, {
      raw: BODY,
      headers: {
        'x-forge-event': 'push',
        'x-forge-delivery': id,
        ...(signature === undefined ? {} : { 'x-hub-signature-256': signature }),
      },
    });
    expect(answer).toMatchObject({ status: 401, body: { error_code: 'AUTHENTICATION_REQUIRED', success: false } });
    expect(answer.body.correlation_id).toBe(answer.headers.get('x-correlation-id'));
    expect(await describeRows(id)).toHaveLength(0);
  });

  it('is over the bytes, not over what they mean', async () => {
    const signature = sign(Buffer.from('{"a":1}'), SECRET);
    expect((await post(app, '{"a": 1}', { headers: { 'x-hub-signature-256': signature } })).status).toBe(401);
  });

  it('a bearer credential neither helps nor hurts', async () => {
    const { token } = await buildPerson(app);
    const bearer = { authorization: `Bearer ${token}` };
    expect((await post(app, BODY, { headers: bearer })).status).toBe(200);
    expect((await post(app, BODY, { headers: { authorization: 'Bearer nonsense' } })).status).toBe(200);
    expect((await post(app, BODY, { secret: 'wrong', headers: bearer })).status).toBe(401);
  });

  it('a burst of wrong ones is told once, CRITICAL, in the instance’s own chain', async () => {
    const besieged = await startApp({ FORGE_WEBHOOK_SECRET: SECRET });
    const bursts = () => besieged.services.db('audit_entries').where({ feature: 'forge', action: 'deny' });
    const wrong = (times: number) => Promise.all(Array.from({ length: times }, () => post(besieged, BODY, { secret: 'wrong' })));
    await wrong(19);
    expect(await bursts()).toHaveLength(0);
    await wrong(1);
    await wrong(30);
    expect(await bursts()).toMatchObject([{ team_id: null, severity: 'CRITICAL', outcome: 'denied', actor_type: 'system' }]);
    expect((await getStatus(besieged)).signature_failures_total).toBe(50);
    await besieged.close();
  });

  it('without a secret of ours every delivery is refused, and the status says why', async () => {
    const bare = await startApp({ FORGE_WEBHOOK_SECRET: SECRET, FORGE_WEBHOOK_SECRET_PREVIOUS: PREVIOUS });
    bare.services.config.FORGE_WEBHOOK_SECRET = undefined;
    for (const secret of [SECRET, PREVIOUS, '']) expect((await post(bare, BODY, { secret })).status).toBe(401);
    expect(await getStatus(bare)).toMatchObject({
      signing_secret_configured: false,
      received_total: 0,
      signature_failures_total: 3,
      last_received_at: null,
      last_signature_failure_at: expect.any(String),
    });
    await bare.close();
  });
});

describe('order of the checks', () => {
  it('a refused delivery does not use up its id', async () => {
    const id = uuidv7();
    expect((await send(app, 'push.branch', {}, { id, secret: 'wrong' })).status).toBe(401);
    expect(await send(app, 'push.branch', {}, { id })).toMatchObject({
      status: 200,
      body: { received: true, event: 'forge.push', duplicate: false },
    });
  });

  it.each([
    ['no JSON', '{"a":'],
    ['zero bytes', ''],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['deeper than 32 levels', '['.repeat(33) + ']'.repeat(33)],
    ['two values', '{}{}'],
  ])('400 for a signed body that is %s; counted, its id still good', async (_what, body) => {
    const id = uuidv7();
    const { received_total } = await getStatus();
    expect(await post(app, body, { id })).toMatchObject({ status: 400, body: { error_code: 'INVALID_REQUEST' } });
    expect((await getStatus()).received_total).toBe(received_total + 1);
    expect(await post(app, BODY, { id })).toMatchObject({ status: 200, body: { duplicate: false } });
  });

  it('a bad signature comes before bad JSON', async () => {
    expect((await post(app, '{"a":', { secret: 'wrong' })).status).toBe(401);
  });

  it('a ping is answered after its signature, before its JSON, and leaves no receipt', async () => {
    const id = uuidv7();
    expect(await send(app, 'ping.repository', {}, { id })).toMatchObject({ status: 200, body: { received: true, ping: true } });
    expect(await send(app, 'ping.organization', {}, { id })).toMatchObject({ status: 200, body: { received: true, ping: true } });
    expect(await post(app, 'no json', { event: 'ping' })).toMatchObject({ status: 200, body: { ping: true } });
    expect((await send(app, 'ping.repository', {}, { secret: 'wrong' })).status).toBe(401);
    expect(await describeRows(id)).toHaveLength(0);
    expect((await getStatus()).last_event).toBe('ping');
  });

  it('413 for 10 MB and one byte by its announcement, before signature and rate; 10 MB is taken', async () => {
    const announced = request(`${app.url}/api/forge/webhooks`, {
      method: 'POST',
      headers: { 'content-length': String(10 * 1024 * 1024 + 1), 'x-hub-signature-256': 'sha256=nonsense' },
    });
    announced.on('error', () => undefined);
    announced.flushHeaders();
    const [answer] = await once(announced, 'response');
    expect(answer.statusCode).toBe(413);
    expect(answer.headers['ratelimit']).toBeUndefined();
    announced.destroy();
    const frame = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: 'acme/rocket' }, commits: [], pad: '' });
    const full = `${frame.slice(0, -2)}${'x'.repeat(10 * 1024 * 1024 - frame.length)}"}`;
    expect(await post(app, full)).toMatchObject({ status: 200, body: { event: 'forge.push' } });
  });

  it('413 also when the length was not announced', async () => {
    const chunked = request(`${app.url}/api/forge/webhooks`, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
    chunked.on('error', () => undefined);
    const answered = once(chunked, 'response');
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    for (let i = 0; i < 11; i += 1) chunked.write(chunk);
    const [answer] = await answered;
    expect(answer.statusCode).toBe(413);
    chunked.destroy();
  });

  it('429 beyond the limit, whatever the signature, with the headers that tell when to come back', async () => {
    const limited = await startApp({ FORGE_WEBHOOK_SECRET: SECRET, RATE_LIMIT_FORGE_WEBHOOK: '5' });
    const answers = [];
    for (let i = 0; i < 5; i += 1) answers.push(await post(limited, BODY, { secret: i % 2 ? SECRET : 'wrong' }));
    expect(answers.map((answer) => answer.status)).toEqual([401, 200, 401, 200, 401]);
    expect(answers.map((answer) => answer.headers.get('ratelimit-policy'))).toEqual(Array(5).fill('"forge_webhook";q=5;w=60'));
    const sixth = await post(limited, BODY);
    expect(sixth).toMatchObject({ status: 429, body: { error_code: 'RATE_LIMIT_EXCEEDED' } });
    expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(sixth.headers.get('ratelimit')).toMatch(/^"forge_webhook";r=0;t=\d+$/);
    expect((await getStatus(limited)).received_total).toBe(2);
    await limited.close();
  });
});

describe('repeats', () => {
  it('the second of an id is dropped, marked, and kept beside the first', async () => {
    const id = uuidv7();
    expect((await send(app, 'issues.opened', {}, { id })).body).toEqual({
      received: true,
      event: 'forge.issue_opened',
      duplicate: false,
    });
    expect((await send(app, 'issues.opened', {}, { id })).body).toEqual({
      received: true,
      event: 'forge.issue_opened',
      duplicate: true,
    });
    expect(await describeRows(id)).toMatchObject([
      { outcome: null, payload: expect.anything() },
      { outcome: 'duplicate', payload: null },
    ]);
    expect(await findWork(id)).toHaveLength(1);
  });

  it('also after it was applied, and with another event or body', async () => {
    const id = uuidv7();
    await send(app, 'push.branch', {}, { id });
    await relay(app);
    expect((await send(app, 'push.branch', {}, { id })).body.duplicate).toBe(true);
    expect((await send(app, 'pull_request.merged', {}, { id })).body).toMatchObject({
      event: 'forge.pr_merged',
      duplicate: true,
    });
    expect(await findWork(id)).toHaveLength(0);
  });

  it('one of 20 at once is handled', async () => {
    const id = uuidv7();
    const before = await getStatus();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(app, 'pull_request.opened', {}, { id })));
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(answers.filter((answer) => !answer.body.duplicate)).toHaveLength(1);
    expect(await findWork(id)).toHaveLength(1);
    const after = await getStatus();
    expect(after.duplicates_total - before.duplicates_total).toBe(19);
    expect(after.received_total - before.received_total).toBe(20);
  });

  it('without an id, event and body are the id', async () => {
    const body = BODY.replace('main', uuidv7());
    expect((await post(app, body, { id: null })).body.duplicate).toBe(false);
    expect((await post(app, body, { id: null })).body.duplicate).toBe(true);
    expect((await post(app, body, { id: '' })).body.duplicate).toBe(true);
    expect((await post(app, body, { id: null, event: 'issues' })).body.duplicate).toBe(false);
    expect((await post(app, `${body} `, { id: null })).body.duplicate).toBe(false);
  });

  it.each([
    ['5,000 characters', 'x'.repeat(5000)],
    ['letters outside ASCII', 'livraison-é'],
  ])('an id of %s is an id', async (_what, id) => {
    expect((await post(app, BODY, { id })).body.duplicate).toBe(false);
    expect((await post(app, BODY, { id })).body.duplicate).toBe(true);
  });

  it('the same body under a new id is handled, and marked as seen before', async () => {
    const patch = { after: uuidv7() };
    const [first, second] = [uuidv7(), uuidv7()];
    await send(app, 'push.branch', patch, { id: first });
    expect((await send(app, 'push.branch', patch, { id: second })).body.duplicate).toBe(false);
    await relay(app);
    expect((await findReceipt(app, first)).reason).toBeNull();
    expect(await findReceipt(app, second)).toMatchObject({ outcome: 'applied', reason: expect.stringContaining('same body') });
  });
});

describe('what is not handled', () => {
  it.each([
    ['star.created', 'star with action created'],
    ['issue_comment.created', 'issue_comment'],
    ['check_suite.succeeded', 'check_suite with action completed'],
    ['workflow_run.cancelled', 'workflow_run'],
    ['dependabot_alert.fixed', 'dependabot_alert'],
    ['pull_request.closed.unknown', 'pull_request'],
  ] as const)('%s is accepted and dropped with its reason', async (name, reason) => {
    const id = uuidv7();
    const { ignored_total } = await getStatus();
    expect(await send(app, name, {}, { id })).toMatchObject({
      status: 200,
      body: { received: true, event: null, duplicate: false },
    });
    expect(await describeRows(id)).toMatchObject([
      { outcome: 'ignored', reason: expect.stringContaining(reason), payload: null },
    ]);
    expect(await findWork(id)).toHaveLength(0);
    expect((await getStatus()).ignored_total).toBe(ignored_total + 1);
  });

  it.each(['[]', 'null', '7', '"text"', '[{"action":"opened"}]'])(
    'a body that is %s is accepted: 200, no event',
    async (body) => {
      expect(await post(app, body, { event: 'issues' })).toMatchObject({ status: 200, body: { event: null, duplicate: false } });
    },
  );

  it('a delivery without event header too', async () => {
    expect(await post(app, BODY, { event: null })).toMatchObject({ status: 200, body: { event: null } });
    expect(await post(app, BODY, { event: '' })).toMatchObject({ status: 200, body: { event: null } });
  });

  it('every real payload of the collection is answered with 200', async () => {
    for (const { event, body } of realDeliveries) expect((await post(app, JSON.stringify(body), { event })).status).toBe(200);
    await relay(app);
    const { rows } = await db().raw("select count(*)::int from forge_deliveries where outcome is null or outcome = 'failed'");
    expect(rows[0].count).toBe(0);
  });
});

describe('headers of the forge that is used most', () => {
  it('are read where ours are absent, and only there', async () => {
    const [id, other] = [uuidv7(), uuidv7()];
    const theirs = { 'x-github-event': 'push', 'x-github-delivery': id };
    expect((await post(app, BODY, { event: null, id: null, headers: theirs })).body).toMatchObject({ event: 'forge.push' });
    expect((await post(app, BODY, { event: null, id: null, headers: theirs })).body.duplicate).toBe(true);
    expect((await post(app, BODY, { event: 'star', id: other, headers: theirs })).body).toEqual({
      received: true,
      event: null,
      duplicate: false,
    });
  });

  it('the Content-Type is not asked for', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json; charset=utf-16'])
      expect((await post(app, BODY, { headers: { 'content-type': type } })).status).toBe(200);
  });
});

describe('what PostgreSQL cannot hold', () => {
  it.each([
    ['a NUL', '"a\\u0000b"', 'a\uFFFDb'],
    ['half a surrogate pair', '"a\\ud800b"', 'a\uFFFDb'],
    ['a backslash before what looks like one', '"a\\\\u0000\\u0000"', 'a\\u0000\uFFFD'],
    ['a whole pair', '"\\ud83d\\ude00"', '😀'],
  ])('%s in a text is stored readably', async (_what, json, stored) => {
    const id = uuidv7();
    const body = `{"action":"opened","repository":{"full_name":"acme/rocket"},"issue":{"number":7,"title":${json}}}`;
    expect(await post(app, body, { id, event: 'issues' })).toMatchObject({ status: 200, body: { event: 'forge.issue_opened' } });
    expect((await findReceipt(app, id)).payload.issue.title).toBe(stored);
  });

  it.each([
    ['a NUL in a key', '{"a\\u0000":1}'],
    ['a number beyond numeric', '1e400000'],
    ['a very long number', '9'.repeat(200_000)],
    ['a repository name of 5,000 letters', '1,"repository":{"full_name":"acme/'.concat('x'.repeat(5000), '"}')],
    ['an own __proto__', '{"__proto__":{"a":1},"constructor":2}'],
  ])('%s does no harm', async (_what, json) => {
    expect(await post(app, `{"ref":"x","other":${json}}`)).toMatchObject({ status: 200, body: { event: 'forge.push' } });
    await relay(app);
  });

  it('an event header of 8,000 letters does no harm', async () => {
    expect(await post(app, BODY, { event: 'x'.repeat(8000) })).toMatchObject({ status: 200, body: { event: null } });
  });
});

describe('GET /api/forge/webhooks/status', () => {
  it('401 without a credential', async () => {
    expect((await app.as().get('/api/forge/webhooks/status')).status).toBe(401);
  });

  it('counts exactly under parallel load', async () => {
    const fresh = await startApp({ FORGE_WEBHOOK_SECRET: SECRET });
    const repeated = uuidv7();
    await Promise.all(
      Array.from({ length: 120 }, (_, i) => {
        if (i % 6 === 0) return post(fresh, BODY, { secret: 'wrong' });
        if (i % 6 === 1) return send(fresh, 'star.created', {}, {});
        if (i % 6 === 2) return send(fresh, 'push.branch', {}, { id: repeated });
        if (i % 6 === 3) return post(fresh, '{');
        if (i % 6 === 4) return send(fresh, 'ping.repository');
        return send(fresh, 'issues.opened');
      }),
    );
    expect(await getStatus(fresh)).toMatchObject({
      signing_secret_configured: true,
      received_total: 100,
      signature_failures_total: 20,
      duplicates_total: 19,
      ignored_total: 20,
      last_received_at: expect.stringMatching(/Z$/),
      last_signature_failure_at: expect.stringMatching(/Z$/),
    });
    expect(await fresh.services.db('outbox').where({ kind: 'forge.delivery' })).toHaveLength(21);
    await fresh.close();
  });

  it('the first delivery of a new installation is told from none', async () => {
    const fresh = await startApp({ FORGE_WEBHOOK_SECRET: SECRET });
    expect(await getStatus(fresh)).toEqual({
      signing_secret_configured: true,
      received_total: 0,
      last_received_at: null,
      last_signature_failure_at: null,
      signature_failures_total: 0,
      duplicates_total: 0,
      ignored_total: 0,
      last_event: null,
    });
    await send(fresh, 'release.published');
    expect(await getStatus(fresh)).toMatchObject({ received_total: 1, last_event: 'release' });
    await fresh.close();
  });
});
