import { v7 as uuidv7 } from 'uuid';
import { OutboxRelay } from '../../../../activities/worker/outbox-relay.js';
import { purgeReceipts } from '../../../../api/integrations/forge/deliveries/purge-receipts.js';
import { buildPerson, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { findReceipt, relay, send } from './deliver.js';

let app: TestApp;
let team: TestTeam;
let repo: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  repo = `Acme/Rocket-${team.team_id}`;
  await app.as(team.admin).post('/api/forge/repositories', { repo, team_id: team.team_id });
});

const db = () => app.services.db;
const deliver = async (name: Parameters<typeof send>[1], id = uuidv7()) => {
  await send(app, name, { 'repository.full_name': repo }, { id });
  return id;
};
const list = (person = team.admin, query = '') => app.as(person).get(`/api/forge/deliveries?team_id=${team.team_id}${query}`);

async function arm(of: TestTeam, trigger_type = 'forge.push'): Promise<string> {
  const automation_id = uuidv7();
  const person = of.member.user_id;
  const definition = { automation_id, name: 'a', trigger_type };
  await db()('automations').insert({ ...definition, team_id: of.team_id, created_by: person, updated_by: person });
  await db()('automation_versions').insert({ ...definition, version: 1, actions: '[]', changed_by: person });
  return automation_id;
}

/** A run of an automation of the team, as the matcher leaves it. */
async function buildRun(receiptId: string, of = team): Promise<string> {
  const run_id = uuidv7();
  await db()('automation_runs').insert({
    run_id,
    automation_id: await arm(of),
    automation_version: 1,
    automation_name: 'a',
    team_id: of.team_id,
    creator_id: of.member.user_id,
    trigger_type: 'forge.push',
    event: { receipt_id: receiptId },
    correlation_id: uuidv7(),
  });
  return run_id;
}

describe('GET /api/forge/deliveries', () => {
  it('tells of each what came of it, newest first', async () => {
    const pushed = await deliver('push.branch');
    await relay(app);
    await deliver('push.branch', pushed);
    const starred = await deliver('star.created');
    const waiting = await deliver('release.published');
    const run_id = await buildRun((await findReceipt(app, pushed)).receipt_id);
    await buildRun((await findReceipt(app, pushed)).receipt_id, await buildTeam(app));
    const { status, body } = await list();
    expect(status).toBe(200);
    const seen = { repo: repo.toLowerCase(), received_at: expect.stringMatching(/Z$/), armed_runs: [] };
    expect(body).toEqual([
      { ...seen, delivery_id: waiting, event: 'release', normalized: 'forge.release_published', outcome: null, reason: null },
      {
        ...seen,
        delivery_id: starred,
        event: 'star',
        normalized: null,
        outcome: 'ignored',
        reason: 'Not a listed event: star with action created',
      },
      {
        ...seen,
        delivery_id: pushed,
        event: 'push',
        normalized: 'forge.push',
        outcome: 'duplicate',
        reason: 'This delivery id was handled already',
      },
      {
        ...seen,
        delivery_id: pushed,
        event: 'push',
        normalized: 'forge.push',
        outcome: 'applied',
        reason: null,
        armed_runs: [run_id],
      },
    ]);
  });

  it('names the runs that the worker’s relay makes of it', async () => {
    const automation_id = await arm(team, 'forge.pull_request');
    const id = await deliver('pull_request.merged');
    await new OutboxRelay(app.services, () => []).pass();
    const [run] = await db()('automation_runs').where({ automation_id });
    expect(run).toMatchObject({
      status: 'queued',
      team_id: team.team_id,
      event: { type: 'forge.pr_merged', pr_number: 2, task: null },
    });
    expect((await list()).body).toMatchObject([{ delivery_id: id, outcome: 'applied', armed_runs: [run.run_id] }]);
    expect(await db()('outbox').whereNot({ kind: 'run.start' })).toHaveLength(0);
  });

  it('is for the team’s admin, and of the team’s repositories only', async () => {
    await deliver('push.branch');
    const other = await buildTeam(app);
    for (const person of [team.guest, team.member, team.manager, other.admin, await buildPerson(app)]) {
      expect((await list(person)).status).toBe(403);
    }
    expect((await app.as().get(`/api/forge/deliveries?team_id=${team.team_id}`)).status).toBe(401);
    expect((await app.as(other.admin).get(`/api/forge/deliveries?team_id=${other.team_id}`)).body).toEqual([]);
    expect((await app.as(team.admin).get(`/api/forge/deliveries?team_id=${uuidv7()}`)).status).toBe(404);
    expect((await app.as(team.admin).get('/api/forge/deliveries?team_id=garbage')).status).toBe(404);
    expect((await app.as(team.admin).get('/api/forge/deliveries')).status).toBe(422);
  });

  it('takes limit and offset', async () => {
    const ids = [await deliver('push.branch'), await deliver('push.tag'), await deliver('star.created')].toReversed();
    const listIds = async (query: string) =>
      (await list(team.admin, query)).body.map((row: { delivery_id: string }) => row.delivery_id);
    expect(await listIds('&limit=2')).toEqual(ids.slice(0, 2));
    expect(await listIds('&limit=2&offset=2')).toEqual(ids.slice(2));
    expect(await listIds('&limit=9999')).toEqual(ids);
    for (const query of ['&limit=0', '&limit=-1', '&limit=x', '&offset=-1'])
      expect((await list(team.admin, query)).status).toBe(422);
  });
});

describe('purgeReceipts', () => {
  /** Makes the receipts of an id as old as that; their ids tell the time, like every UUIDv7. */
  const age = async (id: string, days: number) => {
    for (const { receipt_id } of await db()('forge_deliveries').where({ delivery_id: id }).select('receipt_id')) {
      await db().raw(
        `update forge_deliveries set receipt_id = uuidv7(make_interval(days => ?)), received_at = now() + make_interval(days => ?)
          where receipt_id = ?`,
        [-days, -days, receipt_id],
      );
    }
  };

  it('after 30 days the payload goes, repeats go, the key stays', async () => {
    const [old, young] = [uuidv7(), uuidv7()];
    for (const id of [old, old, young, young]) await deliver('push.branch', id);
    await relay(app);
    await age(old, 31);
    await age(young, 29);
    expect(await purgeReceipts(db())).toBe(2);
    expect(await db()('forge_deliveries').where({ delivery_id: old })).toMatchObject([{ outcome: 'applied', payload: null }]);
    expect(await db()('forge_deliveries').where({ delivery_id: young })).toHaveLength(2);
    expect((await findReceipt(app, young)).payload).not.toBeNull();
    expect(await purgeReceipts(db())).toBe(0);
    expect((await send(app, 'push.branch', {}, { id: old })).body.duplicate).toBe(true);
  });

  it('works through more than one batch', async () => {
    await db().raw(`insert into forge_deliveries (receipt_id, delivery_id, body_sha256, payload, outcome)
      select uuidv7(interval '-40 days'), 'old-' || n, '', '{}', 'applied' from generate_series(1, 1234) as n`);
    expect(await purgeReceipts(db())).toBe(1234);
  });
});
