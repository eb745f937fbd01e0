import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type Answer, type TestApp } from '../../../support/app.js';

// A definition has at most 64 kB, however it is saved.

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

const KB = 1024;
/** Eight of these are more than a definition may have now. */
const LONG = 'x'.repeat(9_900);
const given = (kb: number) => ({
  name: 'Large',
  trigger_type: 'task.created',
  team_id: team.team_id,
  actions: Array.from({ length: 8 }, () => ({ type: 'add_comment', params: { content: 'x'.repeat((kb * KB) / 8) } })),
});
const admin = () => app.as(team.admin);
const create = async (kb: number) => (await admin().post('/api/automations', given(kb))) as Answer;
const created = async (): Promise<{ automation_id: string; path: string }> => {
  const { body } = await create(1);
  return { ...body, path: `/api/automations/${body.automation_id}` };
};
const TOO_LARGE = { status: 400, body: { error_code: 'INVALID_REQUEST', message: 'The definition is larger than 64 kB' } };

/** Makes version 1 of an automation larger than may be saved now, as an earlier release could. */
async function enlarge(automation_id: string): Promise<void> {
  const { db } = app.services;
  const [{ actions: stored }] = await db('automations').where({ automation_id }).select('actions');
  const params = { content: LONG };
  const actions = JSON.stringify(stored.map((action: object) => ({ ...action, params })));
  await db.transaction(async (trx) => {
    await trx.raw('alter table automation_versions drop constraint automation_versions_definition_size');
    await trx('automation_versions').where({ automation_id, version: 1 }).update({ actions });
    await trx('automations').where({ automation_id }).update({ actions });
    await trx.raw(`alter table automation_versions add constraint automation_versions_definition_size
      check (octet_length(actions::text) + octet_length(trigger_config::text) + coalesce(octet_length(condition), 0) <= 65536) not valid`);
  });
}

it('stores a definition of 63 kB and returns 400 for one of 65 kB, which leaves nothing', async () => {
  expect((await create(63)).status).toBe(201);
  expect(await create(65)).toMatchObject(TOO_LARGE);
  expect(await app.services.db('automations').where({ team_id: team.team_id })).toHaveLength(1);
});

it('counts the condition and bytes, not characters', async () => {
  const { path } = await created();
  const condition = `task.title == "${'é'.repeat(900)}"`;
  const change = (kb: number) => admin().patch(path, { actions: given(kb).actions, condition });
  expect(await change(62)).toMatchObject({ status: 400 });
  expect(await change(60)).toMatchObject({ status: 200 });
});

it.each(['put', 'patch'] as const)('returns 400 to %s a definition of 65 kB', async (method) => {
  const { path, automation_id } = await created();
  expect(await admin()[method](path, given(65))).toMatchObject(TOO_LARGE);
  expect(await app.services.db('automation_versions').where({ automation_id })).toHaveLength(1);
});

it('reads, pauses and enables a larger one of an earlier release, but saves none', async () => {
  const { path, automation_id } = await created();
  await enlarge(automation_id);
  expect((await admin().get(path)).body.actions[0].params).toEqual({ content: LONG });
  expect((await admin().get(`${path}/versions`)).body).toHaveLength(1);
  for (const is_active of [false, true]) expect((await admin().post(`${path}/toggle`, { is_active })).status).toBe(200);
  expect(await admin().patch(path, { name: 'Renamed' })).toMatchObject(TOO_LARGE);
  expect((await admin().patch(path, { actions: given(1).actions })).status).toBe(200);
  expect(await admin().post(`${path}/rollback`, { version: 1 })).toMatchObject(TOO_LARGE);
});
