import { v7 as uuidv7 } from 'uuid';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

/** Changes of several requests, recorded by one call. */
let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

const db = () => app.services.db;
const caller = (request_id: string, user_id = team.member.user_id) => ({
  request_id,
  correlation_id: request_id,
  actor_type: 'user',
  user_id,
  email: 'someone@example.test',
});

/** Records one change for each caller; returns the ids of the entries. */
async function record(callers: object[]): Promise<string[]> {
  const { rows } = await db().raw<{ rows: { ids: string[] }[] }>(
    `select record_changes_of(array_agg(c.who order by c.place), array_agg(make_change(team_id => ?::uuid, feature => 'tasks', action => 'update',
      entity_type => 'task', entity_id => 'task ' || c.place, title => 'Crane', summary => 'moved it', details => '{}') order by c.place)) as ids
    from jsonb_array_elements(?::jsonb) with ordinality as c(who, place)`,
    [team.team_id, JSON.stringify(callers)],
  );
  return rows[0]?.ids as string[];
}

it('gives the first entry of each request its id, and every entry its own caller', async () => {
  const [first, second] = [uuidv7(), uuidv7()];
  const callers = [caller(first), caller(second, team.manager.user_id), caller(first)];
  const ids = await record(callers);
  expect(ids.slice(0, 2)).toEqual([first, second]);
  expect(new Set(ids).size).toBe(3);
  const entries = await db()('audit_entries').whereIn('audit_id', ids).orderBy('entity_id').select('user_id', 'correlation_id');
  expect(entries).toEqual(callers.map(({ user_id, correlation_id }) => ({ user_id, correlation_id })));
  for (const table of ['audit_pending', 'activity']) {
    expect((await db()(table).whereIn('audit_id', ids).pluck<string[]>('audit_id')).toSorted()).toEqual(ids.toSorted());
  }
});

it('gives a new id only to the entry whose request has one already', async () => {
  const [earlier, fresh] = [uuidv7(), uuidv7()];
  expect(await record([caller(earlier)])).toEqual([earlier]);
  const ids = await record([caller(fresh), caller(earlier)]);
  expect(ids[0]).toBe(fresh);
  expect(ids[1]).not.toBe(earlier);
  const entries = await db()('audit_entries').where({ correlation_id: earlier }).orderBy('entity_id').pluck('audit_id');
  expect(entries).toEqual([earlier, ids[1]]);
  expect(await db()('activity').where({ audit_id: ids[1] })).toHaveLength(1);
});

it('records nothing without changes', async () => {
  const { rows } = await db().raw(`select record_changes_of('{}', '{}') as ids, record_changes('{}', '{}') as id`);
  expect(rows).toEqual([{ ids: [], id: null }]);
});
