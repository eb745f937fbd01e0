import { v7 as uuidv7 } from 'uuid';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { tamper } from '../support.js';
import { withQuery, writeEntry, writeMany } from './entries.js';

const PATH = '/api/audit/stats';
let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const read = (query: Record<string, string> = {}) => app.as(team.admin).get(withQuery(PATH, query));
const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** An entry of an earlier day. */
async function writeOld(days: number): Promise<void> {
  const audit_id = uuidv7({ msecs: Date.now() - days * 86_400_000 });
  await writeEntry(app, { team_id: team.team_id, audit_id });
  const time = dayBefore(days).replace('Z', '000');
  await tamper(app.services.db, ['update audit_entries set timestamp = ? where audit_id = ?', time, audit_id]);
}

it('counts what the window holds, by word, person and day', async () => {
  const { team_id } = team;
  const [often, once] = [uuidv7(), uuidv7()];
  for (const user_id of [often, often, once, null]) await writeEntry(app, { team_id, user_id });
  await writeEntry(app, {
    team_id,
    user_id: often,
    feature: 'secrets',
    action: 'delete',
    severity: 'HIGH',
    entity_type: 'secret',
  });
  await writeOld(3);
  await writeOld(40);
  const { status, body } = await read();
  expect(status).toBe(200);
  const date = new Date().toISOString().slice(0, 10);
  expect(body).toMatchObject({
    team_id: null,
    days: 30,
    total: 6,
    by_feature: { tasks: 5, secrets: 1 },
    by_action: { update: 5, delete: 1 },
    by_severity: { LOW: 5, HIGH: 1 },
  });
  expect(body.by_user.slice(0, 1)).toEqual([{ user_id: often, count: 3 }]);
  expect(body.by_user).toHaveLength(3);
  const days = new Map<string, number>(
    body.by_day.map((day: { date: string; count: number }): [string, number] => [day.date, day.count]),
  );
  expect([days.size, days.get(date), days.get(dayBefore(3).slice(0, 10))]).toEqual([30, 5, 1]);
  expect(body.by_day.map((day: { date: string }) => day.date)).toEqual([...days.keys()].toSorted());
  expect((await read({ days: '365' })).body.total).toBe(7);
  expect((await read({ days: '1', team_id })).body).toMatchObject({ team_id, days: 1, total: 5 });
});

it('counts the same while the sealer counts as well, a thousand entries at a time', async () => {
  const { team_id } = team;
  for (const [count, total] of [
    [999, 999],
    [1, 1_000],
    [1_500, 2_500],
    [1, 2_501],
  ] as const) {
    await writeMany(app, team_id, count);
    const { body } = await read();
    expect(body).toMatchObject({
      total,
      by_feature: { teams: total },
      by_action: { update: total },
      by_severity: { LOW: total },
    });
    expect(body.by_user.reduce((sum: number, user: { count: number }) => sum + user.count, 0)).toBe(total);
  }
  const counted = await app.services.db('audit_counted').where({ chain: team_id }).first();
  expect(Number(counted?.['sequence'])).toBe(2_000);
});

it('names the ten most active people', async () => {
  for (let n = 0; n < 12; n += 1) await writeEntry(app, { team_id: team.team_id });
  expect((await read()).body.by_user).toHaveLength(10);
});

it.each(['0', '366', '-1', '1.5', 'x', '', '9'.repeat(400)])('days=%s is out of range', async (days) => {
  expect((await read({ days })).status).toBe(422);
});

it('a team that the caller does not administer is refused; its entries count for nobody else', async () => {
  const other = await buildTeam(app);
  await writeEntry(app, { team_id: other.team_id });
  await writeEntry(app, { team_id: null });
  for (const team_id of [other.team_id, uuidv7(), 'nonsense']) {
    const { status, body } = await read({ team_id });
    expect([status, body.message]).toEqual([403, 'You do not administer this team']);
  }
  expect((await read()).body).toMatchObject({ total: 0, by_feature: {}, by_user: [] });
});
