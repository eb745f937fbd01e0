/** A row that keeps failing is parked: kept with its error, counted, listed and replayed by an operator. */
import { execFileSync } from 'node:child_process';
import { v7 as uuidv7 } from 'uuid';
import { serviceContext } from '../../api/platform/context.js';
import { COMMANDS } from '../../scripts/admin/commands.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { age, type KillableRelay, makeDue, openRelay } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let automation: { automation_id: string };
let relay: KillableRelay;

beforeEach(async () => {
  app = await startApp();
  team = await buildTeam(app);
  project = await buildProject(app, team);
  automation = await buildAutomation(app, team, { actions: [comment('seen')] });
  relay = openRelay(app);
});
afterEach(async () => {
  await relay.close();
  await app.close();
});

const db = () => app.services.db;
const parked = () => db()('outbox').whereNotNull('parked_at');
const command = (name: string, about = '') =>
  COMMANDS[name]?.run(serviceContext(app.services, 'operator'), { about, values: {} }) as Promise<string[]>;
const doctor = () =>
  execFileSync(process.execPath, ['scripts/doctor.mjs'], {
    encoding: 'utf8',
    env: { ...process.env, DATABASE_URL: app.database.url },
  });
/** An automation without its version row: no event of it can be matched. */
const poison = async () => (await db()('automation_versions').where(automation).delete().returning('*'))[0];
const cure = (version: { actions: unknown }) =>
  db()('automation_versions').insert({ ...version, actions: JSON.stringify(version.actions) });

it('after ten failures; an operator lists it, cures it and replays it, once', async () => {
  const version = await poison();
  await buildTask(app, team, project);
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    expect(await parked()).toEqual([]);
    await makeDue(app);
    await relay.drain();
  }
  const [row] = await parked();
  expect(row).toMatchObject({ kind: 'event', failures: 10, last_error: expect.stringContaining('does not exist') });
  await makeParkedRowsLookDue();
  expect((await relay.relay.poll()).events).toBe(false);
  const listed = await command('outbox-parked');
  expect(listed).toHaveLength(1);
  expect(listed[0]).toMatch(
    new RegExp(`^${row.outbox_id}  event  task.created  team ${team.team_id}.*after 10 failures: .*does not exist`, 's'),
  );
  expect(doctor()).toContain('1 row of the outbox parked');

  await cure(version);
  expect(await command('outbox-replay', String(row.outbox_id))).toEqual([expect.stringContaining('is due again')]);
  await expect(command('outbox-replay', String(row.outbox_id))).rejects.toThrow('Parked row not found');
  await expect(command('outbox-replay', 'x')).rejects.toThrow('Required: the row id');
  await relay.drain();
  expect(await db()('automation_runs').where(automation)).toHaveLength(1);
  expect(await command('outbox-parked')).toEqual(['no parked rows']);
  expect(doctor()).toContain('no row of the outbox is parked');
  expect(await db()('audit_entries').where({ feature: 'admin', team_id: team.team_id })).toMatchObject([
    { action: 'retry', entity_type: 'outbox_row', actor_type: 'system' },
  ]);
});

/** Parked rows are not hidden by their time alone. */
const makeParkedRowsLookDue = () => db().raw('update outbox set next_attempt_at = now() where parked_at is not null');

it('at its first failure once it is a day old', async () => {
  await poison();
  await buildTask(app, team, project);
  await age(app, 25);
  await relay.drain();
  expect(await parked()).toMatchObject([{ failures: 1 }]);
});

it('a delivery like an event', async () => {
  await db().raw(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'poisoned' using errcode = 'XX000'; end $$;
    create trigger poison before update on forge_deliveries for each row execute function refuse()`);
  const [{ receipt_id }] = await db()('forge_deliveries')
    .insert({
      delivery_id: uuidv7(),
      event: 'push',
      normalized: 'forge.push',
      repo: 'a/b',
      body_sha256: Buffer.alloc(32),
      payload: '{}',
    })
    .returning('receipt_id');
  await db()('outbox').insert({
    kind: 'forge.delivery',
    subject: 'forge.push',
    payload: { receipt_id },
    correlation_id: uuidv7(),
  });
  for (let attempt = 1; attempt <= 11; attempt += 1) {
    await db()('outbox').whereNull('parked_at').update({ next_attempt_at: db().fn.now() });
    await relay.drain();
  }
  expect(await parked()).toMatchObject([
    { kind: 'forge.delivery', failures: 10, last_error: expect.stringContaining('poisoned') },
  ]);
});

describe('what waits for Temporal', () => {
  const refusing = (code: number) => () =>
    Promise.reject(Object.assign(new Error('Failed to start Workflow'), { cause: Object.assign(new Error('grpc'), { code }) }));
  const attempts = async (dispatch: () => Promise<void>, count: number) => {
    const dispatching = openRelay(app, dispatch);
    for (let attempt = 0; attempt < count; attempt += 1) {
      await db()('outbox').whereNull('parked_at').update({ next_attempt_at: db().fn.now() });
      await dispatching.drain();
    }
    await dispatching.close();
  };

  it('an unreachable Temporal never counts', async () => {
    await buildTask(app, team, project);
    await attempts(refusing(14), 12);
    expect(await db()('outbox').where({ kind: 'run.start' })).toMatchObject([{ failures: 0, parked_at: null, attempts: 12 }]);
    expect(await db()('automation_runs').where(automation)).toMatchObject([{ status: 'queued' }]);
  });

  it('a start that Temporal refuses becomes a failed run in the dead letter', async () => {
    await buildTask(app, team, project);
    await attempts(refusing(3), 10);
    expect(await db()('automation_runs').where(automation)).toMatchObject([
      { status: 'failed', error: { code: 'dispatch_failed' } },
    ]);
    expect(await db()('outbox')).toEqual([]);
    const { body } = await app.as(team.manager).get(`/api/automations/dead-letter?team_id=${team.team_id}`);
    expect(body.entries).toMatchObject([{ automation_id: automation.automation_id, error: { code: 'dispatch_failed' } }]);
  });

  it('a wake that Temporal refuses is parked, and the run stays as it is', async () => {
    await buildTask(app, team, project);
    await relay.drain();
    await db()('outbox').update({ kind: 'run.wake' });
    await attempts(refusing(3), 11);
    expect(await parked()).toMatchObject([{ kind: 'run.wake', failures: 10 }]);
    expect(await db()('automation_runs').where(automation)).toMatchObject([{ status: 'queued' }]);
  });
});
