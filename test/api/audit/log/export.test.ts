import { createPublicKey, verify } from 'node:crypto';
import { request } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import { exportForm, type ExportHead } from '../../../../api/audit/export-proof.js';
import { deriveKeyId, signingKey } from '../../../../api/audit/signing-keys.js';
import { buildPerson, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { type Entry, hashOfEntry, writeEntry, writeMany } from './entries.js';

const PATH = '/api/audit/export';
let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({}, 60_000);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

type Export = ExportHead & { data: Entry[]; proof: { key_id: string; signature: string } };

async function exported(wanted: object = {}, admin: { token: string } | string = team.admin): Promise<Export> {
  const { status, body } = await app.as(admin).post(PATH, { format: 'json', ...wanted });
  expect([status, body.message]).toEqual([200, undefined]);
  return body as Export;
}

/** Verifies an export from nothing but itself and the public key, as somebody would who has no access to the service. */
function verifyExport({ data, proof, ...head }: Export): boolean {
  const key = createPublicKey(signingKey(app.services.config));
  expect(proof.key_id).toBe(deriveKeyId(key));
  expect(data.map(hashOfEntry)).toEqual(data.map(({ entry_hash }) => entry_hash));
  const hashes = data.map(({ entry_hash }) => Buffer.from(entry_hash, 'hex'));
  return verify(null, exportForm(head, hashes), key, Buffer.from(proof.signature, 'base64'));
}

it('exports the whole chain of a team, its own record included, and is signed', async () => {
  await writeMany(app, team.team_id, 30);
  const result = await exported();
  expect(result).toMatchObject({ format: 'json', record_count: 31, filters: {} });
  expect(Object.keys(result).toSorted()).toEqual(
    ['format', 'record_count', 'exported_at', 'audit_id', 'filters', 'chain', 'proof', 'data'].toSorted(),
  );
  expect(result.data[0]).toMatchObject({
    audit_id: result.audit_id,
    feature: 'audit',
    action: 'export',
    severity: 'HIGH',
    user_id: team.admin.user_id,
    details: { format: 'json', filters: {} },
  });
  // Nothing is missing: each sequence, each linked to the one before, up to the head.
  const bySequence = result.data.toSorted((a, b) => a.sequence - b.sequence);
  expect(bySequence.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 31 }, (_one, n) => n + 1));
  expect(bySequence.slice(1).map(({ prev_hash }) => prev_hash)).toEqual(
    bySequence.slice(0, -1).map(({ entry_hash }) => entry_hash),
  );
  const head_hash = bySequence.at(-1)?.entry_hash;
  expect(result.chain).toEqual([{ team_id: team.team_id, first_sequence: 1, last_sequence: 31, head_hash }]);
  expect(verifyExport(result)).toBe(true);
});

it('a signature fits nothing else: head, filters, chain, or another order or choice of entries', async () => {
  await writeMany(app, team.team_id, 5);
  const result = await exported({ entity_type: 'team' });
  expect(verifyExport(result)).toBe(true);
  const [chain] = result.chain;
  const forged: Partial<Export>[] = [
    { format: 'csv' },
    { exported_at: new Date(0).toISOString() },
    { audit_id: uuidv7() },
    { record_count: 4 },
    { filters: {} },
    { filters: { entity_id: 'team' } },
    { filters: { entity_type: 'team', severity: 'LOW' } },
    { chain: [] },
    { chain: [{ ...chain, team_id: uuidv7() } as never] },
    { chain: [{ ...chain, first_sequence: null } as never] },
    { chain: [{ ...chain, last_sequence: 4 } as never] },
    { chain: [{ ...chain, head_hash: '0'.repeat(64) } as never] },
    { data: result.data.toReversed() },
    { data: result.data.slice(1) },
    { data: [...result.data, result.data[0] as Entry] },
  ];
  for (const change of forged) expect(verifyExport({ ...result, ...change })).toBe(false);
});

it('filters as the list does, tells which filters were applied, and records them', async () => {
  const { team_id } = team;
  const secret = await writeEntry(app, { team_id, feature: 'secrets', entity_type: 'secret' });
  await writeEntry(app, { team_id });
  const wanted = { format: 'csv', team_id, feature: 'secrets', action: 'nonsense', from_time: '2', to_time: '9\0' };
  const result = await exported(wanted);
  expect(result).toMatchObject({
    format: 'csv',
    record_count: 1,
    filters: { team_id, feature: 'secrets', from_time: '2', to_time: '9' },
  });
  expect(result.filters).not.toHaveProperty('action');
  expect(result.data.map(({ audit_id }) => audit_id)).toEqual([secret]);
  expect(result.chain).toMatchObject([{ first_sequence: 1, last_sequence: 3 }]);
  expect(verifyExport(result)).toBe(true);
  const { body } = await app.as(team.admin).get(`/api/audit/logs/${result.audit_id}`);
  expect(body.details).toEqual({ format: 'csv', filters: result.filters });
  const none = await exported({ user_id: 'nobody' });
  expect(none).toMatchObject({ record_count: 0, data: [], chain: [{ first_sequence: null }] });
  expect(verifyExport(none)).toBe(true);
});

it('one HIGH entry in each exported team, all of one correlation', async () => {
  const second = await buildTeam(app);
  const { db } = app.services;
  await db('memberships').insert({ team_id: second.team_id, user_id: team.admin.user_id, role: 'admin' });
  await writeEntry(app, { team_id: second.team_id });
  const result = await exported();
  const trail = await app.as(team.admin).get(`/api/audit/correlate/${result.audit_id}`);
  expect(trail.body.entries.map((entry: Entry) => entry['team_id']).toSorted()).toEqual(
    [team.team_id, second.team_id].toSorted(),
  );
  expect(result.record_count).toBe(3);
  expect(result.chain.map(({ team_id }) => team_id)).toEqual([team.team_id, second.team_id].toSorted());
  expect(verifyExport(result)).toBe(true);
  // Of one team only, nothing is left in the log of the other.
  await exported({ team_id: team.team_id });
  expect(await db('audit_entries').where({ team_id: second.team_id, action: 'export' })).toHaveLength(1);
});

it('refuses another team, a team without the plan, and other formats, and leaves no trace of a refusal', async () => {
  const other = await buildTeam(app);
  const exports = () =>
    app.services.db('audit_entries').where({ action: 'export' }).whereIn('team_id', [team.team_id, other.team_id]);
  for (const team_id of [other.team_id, uuidv7(), 'nonsense']) {
    const { status, body } = await app.as(team.admin).post(PATH, { format: 'json', team_id });
    expect([status, body.message]).toEqual([403, 'You do not administer this team']);
  }
  for (const body of [
    {},
    { format: 'xml' },
    { format: ['json'] },
    { format: 'json', feature: 1 },
    { format: 'json', entity_id: 'x'.repeat(513) },
  ])
    expect((await app.as(team.admin).post(PATH, body)).status).toBe(422);
  await app.services.db('teams').where({ team_id: team.team_id }).update({ plan: 'free' });
  const { status, body } = await app.as(team.admin).post(PATH, { format: 'json', team_id: team.team_id });
  expect([status, body.upgrade_required]).toEqual([403, true]);
  expect(await exports()).toEqual([]);
});

it('a token exports as its owner, and is named', async () => {
  const token = await buildToken(app, team.admin, ['tasks:read']);
  const { data } = await exported({}, token);
  expect(data[0]).toMatchObject({ actor_type: 'pat', user_id: team.admin.user_id });
  expect(data[0]?.['token_id']).not.toBeNull();
});

it('returns 10,000 entries and no more: the newest', async () => {
  await writeMany(app, team.team_id, 9_998);
  const almost = await exported();
  expect([almost.record_count, almost.data.length]).toEqual([9_999, 9_999]);
  const exact = await exported();
  expect(exact.record_count).toBe(10_000);
  const cut = await exported();
  expect([cut.record_count, cut.data.length]).toEqual([10_000, 10_000]);
  expect(cut.data.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 10_000 }, (_one, n) => n + 2),
  );
  expect(cut.chain).toMatchObject([{ first_sequence: 2, last_sequence: 10_001 }]);
  expect(verifyExport(cut)).toBe(true);
  const times = cut.data.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted().toReversed());
});

it('an export that fails after its record leaves the record', async () => {
  const { db } = app.services;
  await writeEntry(app, { team_id: team.team_id });
  // The key of the settings is no key, so nothing can be signed.
  const broken = await import('node:crypto').then(({ generateKeyPairSync }) =>
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  );
  const { AUDIT_SIGNING_KEY } = app.services.config;
  app.services.config.AUDIT_SIGNING_KEY = broken as string;
  try {
    expect((await app.as(team.admin).post(PATH, { format: 'json' })).status).toBe(500);
  } finally {
    app.services.config.AUDIT_SIGNING_KEY = AUDIT_SIGNING_KEY;
  }
  expect(await db('audit_entries').where({ team_id: team.team_id, action: 'export', severity: 'HIGH' })).toHaveLength(1);
});

it('while the team writes, an export is a chain up to the head that it names', async () => {
  const { db } = app.services;
  let writing = true;
  let written = 0;
  const writers = Array.from({ length: 3 }, async () => {
    for (; writing; written += 1) await writeEntry(app, { team_id: team.team_id });
  });
  try {
    for (let round = 0; round < 10; round += 1) {
      const result = await exported();
      const last = result.chain[0]?.last_sequence as number;
      const sequences = result.data.map(({ sequence }) => sequence).toSorted((a, b) => a - b);
      expect(sequences).toEqual(Array.from({ length: last }, (_one, n) => n + 1));
      expect(result.data.some(({ audit_id }) => audit_id === result.audit_id)).toBe(true);
      expect(verifyExport(result)).toBe(true);
    }
  } finally {
    writing = false;
    await Promise.all(writers);
  }
  expect(await db('audit_entries').where({ team_id: team.team_id })).toHaveLength(written + 10);
});

it('20 admins export at once, and others are served meanwhile', async () => {
  await writeMany(app, team.team_id, 3_000);
  const admins = await Promise.all(Array.from({ length: 20 }, () => buildPerson(app)));
  const role = 'admin';
  await app.services.db('memberships').insert(admins.map(({ user_id }) => ({ team_id: team.team_id, user_id, role })));
  const other = await buildTeam(app);
  const exports = Promise.all(admins.map((admin) => exported({ entity_type: 'team' }, admin)));
  const meanwhile = await Promise.all(Array.from({ length: 20 }, () => app.as(other.member).get('/api/projects')));
  expect(meanwhile.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  for (const result of await exports) {
    expect(result.record_count).toBe(3_000);
    expect(verifyExport(result)).toBe(true);
  }
  const recorded = await app.services
    .db('audit_entries')
    .where({ team_id: team.team_id, action: 'export' })
    .pluck<string[]>('user_id');
  expect(recorded.toSorted()).toEqual(admins.map(({ user_id }) => user_id).toSorted());
});

it('one admin’s exports at once wait for each other; too many are sent away', async () => {
  await writeMany(app, team.team_id, 1_000);
  const answers = await Promise.all(Array.from({ length: 40 }, () => app.as(team.admin).post(PATH, { format: 'json' })));
  const done = answers.filter(({ status }) => status === 200);
  expect(done.length).toBeGreaterThanOrEqual(20);
  for (const { status, headers } of answers.filter((answer) => !done.includes(answer)))
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect((await app.as(team.admin).post(PATH, { format: 'json' })).status).toBe(200);
});

it('a reader that stops reading keeps no slot once it is gone', async () => {
  await writeMany(app, team.team_id, 10_000);
  const hang = async () => {
    const body = JSON.stringify({ format: 'json' });
    const headers = { authorization: `Bearer ${team.admin.token}`, 'content-type': 'application/json' };
    const sent = request(`${app.url}${PATH}`, { method: 'POST', headers, agent: false });
    sent.on('error', () => undefined);
    sent.end(body);
    // It gets its first bytes, and reads no more.
    return new Promise<() => void>((resolve) =>
      sent.once('response', (response) => {
        response.pause();
        resolve(() => response.destroy());
      }),
    );
  };
  const gone = await Promise.all([hang(), hang()]);
  const waiting = app.as(team.admin).post(PATH, { format: 'json', entity_type: 'none' });
  for (const leave of gone) leave();
  expect((await waiting).status).toBe(200);
  await until(async () => (await app.as(team.admin).post(PATH, { format: 'json', entity_type: 'none' })).status === 200);
});
