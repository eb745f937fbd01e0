import { v7 as uuidv7 } from 'uuid';
import { maintenanceActivities } from '../../../../activities/maintenance.js';
import { purgeExpired } from '../../../../api/bulk/trash/purge-expired.js';
import { buildAutomation, gate } from '../../../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';

// Permanent deletion from the trash, by a user or after 30 days.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let member: Client;
let manager: Client;
let admin: Client;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  member = app.as(team.member);
  manager = app.as(team.manager);
  admin = app.as(team.admin);
});

type Task = { task_id: string };
const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const db = () => app.services.db;
const task = (fields: Record<string, unknown> = {}) => buildTask(app, team, project, fields);
const under = (parent: Task) => task({ parent_task_id: parent.task_id });
const trashTask = ({ task_id }: Task) => member.delete(`/api/tasks/${task_id}`);
const trashProject = () => member.delete(`/api/projects/${project.project_id}`);
const purgeTask = ({ task_id }: Task, by = manager) => by.delete(`/api/trash/task/${task_id}`);
const purgeProject = (by = manager) => by.delete(`/api/trash/project/${project.project_id}`);
const restoreTask = ({ task_id }: Task) => member.post(`/api/trash/task/${task_id}/restore`);
const restoreProject = () => member.post(`/api/trash/project/${project.project_id}/restore`);
const empty = (by = admin, teamId = team.team_id) => by.delete(`/api/trash?team_id=${teamId}`);
const left = async (): Promise<string[]> =>
  (await member.get('/api/trash?limit=500')).body.map((entry: { entity_id: string }) => entry.entity_id);
const findAudit = (entityId: string) => db()('audit_entries').where({ entity_id: entityId, action: 'purge' });
const describeRows = async (table: string, column: string, id: string) => (await db()(table).where({ [column]: id })).length;
/** Backdates the deletion by this many days. */
const age = async (days: number, place: Record<string, string> = project) => {
  const past = { deleted_at: db().raw('now() - make_interval(secs => ?)', [days * 86_400]) };
  await db()('tasks').where(place).whereNotNull('deleted_at').update(past);
  await db()('projects').where(place).whereNotNull('deleted_at').update(past);
};
const getStatuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);
/** Many tasks in the trash, one deletion each. */
const fill = async (count: number): Promise<void> => {
  await db().raw(
    /* sql */ `
    with made as (insert into item_keys select uuidv7()::text, 'task' from generate_series(1, ?::int) returning item_id)
    insert into tasks (task_id, project_id, team_id, title, created_by, deleted_at, deleted_by, cascade_id)
      select item_id, ?, ?, 'Old', ?, now(), ?, uuidv7() from made`,
    [count, project.project_id, team.team_id, team.member.user_id, team.member.user_id],
  );
};

describe('DELETE /api/trash/task/:task_id', () => {
  it('200 removes the task with its subtasks, comments and links, and leaves audit and activity, but no event', async () => {
    const parent = await task();
    const child = await under(parent);
    const { body: comment } = await member.post(`/api/tasks/${child.task_id}/comments`, { content: 'Hello' });
    await member.post(`/api/tasks/${child.task_id}/comments`, { content: 'Yes?', parent_comment_id: comment.comment_id });
    await member.post(`/api/tasks/${child.task_id}/forge-links`, { repo: 'acme/rocket', issue_number: 7 });
    const { body: deletion } = await trashTask(parent);
    const events = await db()('outbox').where({ team_id: team.team_id }).count();
    const answer = await purgeTask(parent);
    expect(answer).toMatchObject({ status: 200, body: { success: true, purged: 2 } });
    expect(await left()).toEqual([]);
    for (const { task_id } of [parent, child]) {
      for (const table of ['tasks', 'comments', 'forge_links']) expect(await describeRows(table, 'task_id', task_id)).toBe(0);
      expect(await describeRows('item_keys', 'item_id', task_id)).toBe(0);
      expect((await member.get(`/api/tasks/${task_id}`)).status).toBe(404);
    }
    const [entry] = await findAudit(parent.task_id);
    expect(entry).toMatchObject({
      audit_id: answer.headers.get('x-correlation-id'),
      severity: 'MEDIUM',
      feature: 'tasks',
      user_id: team.manager.user_id,
    });
    expect(JSON.parse(entry.details)).toMatchObject({ cause: 'purged', purged_count: 2 });
    expect(await db()('activity').where({ entity_id: parent.task_id, action: 'purge' })).toHaveLength(1);
    expect(await db()('outbox').where({ team_id: team.team_id }).count()).toEqual(events);
    expect(deletion.restore_url).toContain(parent.task_id);
    expect((await restoreTask(parent)).status).toBe(404);
  });

  it('200 leaves what another deletion moved, which comes to top level', async () => {
    const parent = await task();
    const earlier = await under(parent);
    await trashTask(earlier);
    await trashTask(parent);
    expect((await purgeTask(parent)).body.purged).toBe(1);
    expect(await left()).toEqual([earlier.task_id]);
    expect((await restoreTask(earlier)).status).toBe(200);
    expect((await member.get(`/api/tasks/${earlier.task_id}`)).body.parent_task_id).toBeNull();
  });

  it('frees an id that the client chose', async () => {
    const task_id = `t-${uuidv7()}`;
    const again = () => member.post('/api/tasks', { title: 'Again', task_id, ...project });
    await again();
    await trashTask({ task_id });
    expect((await again()).status).toBe(409);
    await purgeTask({ task_id });
    expect((await again()).status).toBe(201);
  });

  it('404 unknown, malformed and live; 403 below manager and to strangers', async () => {
    const live = await task();
    for (const task_id of [live.task_id, UNKNOWN, 'no%20id']) expect((await purgeTask({ task_id })).status).toBe(404);
    await trashTask(live);
    for (const by of [member, app.as(team.guest), app.as(await buildPerson(app))])
      expect((await purgeTask(live, by)).status).toBe(403);
    expect(await left()).toEqual([live.task_id]);
    expect(await findAudit(live.task_id)).toEqual([]);
  });
});

describe('DELETE /api/trash/project/:project_id', () => {
  it('200 removes the project with every task, also those that were in the trash before', async () => {
    const earlier = await task();
    await trashTask(earlier);
    const parent = await task();
    await under(parent);
    await trashProject();
    const answer = await purgeProject();
    expect(answer).toMatchObject({ status: 200, body: { success: true, purged: 4 } });
    expect(await left()).toEqual([]);
    for (const table of ['projects', 'tasks']) expect(await describeRows(table, 'project_id', project.project_id)).toBe(0);
    expect(await describeRows('item_keys', 'item_id', project.project_id)).toBe(0);
    const [entry] = await findAudit(project.project_id);
    expect(entry).toMatchObject({ audit_id: answer.headers.get('x-correlation-id'), severity: 'MEDIUM', feature: 'projects' });
    expect((await restoreProject()).status).toBe(404);
    expect((await restoreTask(earlier)).status).toBe(404);
  });

  it('200 ends its automations and unbinds its repositories; runs, effects and audit stay and can be read', async () => {
    const one = await task();
    const { automation_id } = await buildAutomation(app, team, { actions: [gate()], ...project });
    const waiting = await buildRun(app, team, { automation: { automation_id }, fields: project });
    const done = await buildRun(app, team, { automation: { automation_id }, status: 'succeeded', fields: project });
    const effect = { run_id: done.run_id, action_index: 0, entity_type: 'task', entity_id: one.task_id };
    await db()('effects').insert(effect);
    const binding = { repo: `acme/${uuidv7()}`, team_id: team.team_id, ...project };
    expect((await admin.post('/api/forge/repositories', binding)).status).toBe(201);
    await trashProject();
    expect((await purgeProject()).status).toBe(200);
    expect((await member.get(`/api/automations/${automation_id}`)).status).toBe(404);
    expect((await member.get(`/api/automations/runs/${waiting.run_id}`)).body).toMatchObject({ status: 'cancelled', ...project });
    expect((await member.get(`/api/automations/runs/${done.run_id}`)).body).toMatchObject({ status: 'succeeded', ...project });
    expect(await db()('effects').where({ run_id: done.run_id })).toMatchObject([effect]);
    expect(await describeRows('audit_entries', 'entity_id', one.task_id)).toBe(1);
    expect(await describeRows('activity', 'entity_id', one.task_id)).toBe(1);
    expect((await admin.get(`/api/forge/repositories?team_id=${team.team_id}`)).body).toEqual([]);
    const [entry] = await findAudit(project.project_id);
    expect(JSON.parse(entry.details)).toMatchObject({ repositories: 1, automations: 1, purged_count: 2 });
  });

  it('200 takes more tasks than one batch in one commit', async () => {
    await fill(1100);
    await trashProject();
    expect((await purgeProject()).body.purged).toBe(1101);
    expect(await left()).toEqual([]);
  });

  it('404 unknown, malformed and live; 403 below manager and to strangers', async () => {
    expect((await purgeProject()).status).toBe(404);
    for (const id of [UNKNOWN, 'garbage']) expect((await manager.delete(`/api/trash/project/${id}`)).status).toBe(404);
    await trashProject();
    for (const by of [member, app.as(team.guest), app.as(await buildPerson(app))])
      expect((await purgeProject(by)).status).toBe(403);
    expect(await left()).toEqual([project.project_id]);
  });
});

describe('DELETE /api/trash', () => {
  it('200 empties one team’s trash, and nothing else', async () => {
    const live = await task();
    const parent = await task();
    await under(parent);
    await trashTask(parent);
    await fill(700);
    const other = await buildProject(app, team);
    await buildTask(app, team, other);
    await member.delete(`/api/projects/${other.project_id}`);
    const neighbour = await buildTeam(app);
    const theirs = await buildTask(app, neighbour, await buildProject(app, neighbour));
    await app.as(neighbour.member).delete(`/api/tasks/${theirs.task_id}`);
    const answer = await empty();
    expect(answer).toMatchObject({ status: 200, body: { purged: 704 } });
    expect(await left()).toEqual([]);
    expect((await member.get(`/api/tasks/${live.task_id}`)).status).toBe(200);
    expect((await app.as(neighbour.guest).get('/api/trash')).body).toHaveLength(1);
    const entries = await db()('audit_entries').where({ correlation_id: answer.headers.get('x-correlation-id') });
    expect(entries).toHaveLength(702);
    expect(entries.map(({ audit_id }) => audit_id)).toContain(answer.headers.get('x-correlation-id'));
    const [entry] = await findAudit(parent.task_id);
    expect(JSON.parse(entry.details)).toMatchObject({ cause: 'emptied', purged_count: 2 });
    expect((await empty()).body).toEqual({ purged: 0 });
  });

  it('404 unknown, 422 without a team, 403 below admin and to strangers', async () => {
    const one = await task();
    await trashTask(one);
    for (const id of [UNKNOWN, 'garbage']) expect((await empty(admin, id)).status).toBe(404);
    expect((await admin.delete('/api/trash')).status).toBe(422);
    for (const by of [manager, member, app.as(team.guest), app.as(await buildPerson(app))])
      expect((await empty(by)).status).toBe(403);
    expect(await left()).toEqual([one.task_id]);
  });
});

describe('after 30 days', () => {
  const purge = () => purgeExpired(app.services);

  it('a project that cannot be removed holds up no other', async () => {
    await task();
    await trashProject();
    await age(40);
    const stuck = project;
    await db().raw(`
      create function keep_task() returns trigger language plpgsql as $$ begin raise exception 'kept' using errcode = 'XX000'; end $$;
      create trigger keep_task before delete on tasks for each row when (old.project_id = '${stuck.project_id}') execute function keep_task()`);
    project = await buildProject(app, team);
    await task();
    await trashProject();
    await age(39);
    await expect(purge()).rejects.toThrow('kept');
    expect(await describeRows('projects', 'project_id', project.project_id)).toBe(0);
    expect(await describeRows('projects', 'project_id', stuck.project_id)).toBe(1);
    await db().raw('drop trigger keep_task on tasks');
    expect(await purge()).toBe(2);
  });

  it('removes what is over its time, and nothing that is not', async () => {
    const live = await task();
    const parent = await task();
    const child = await under(parent);
    await trashTask(parent);
    await age(29.99);
    expect(await purge()).toBe(0);
    await age(30.01);
    expect(await purge()).toBe(2);
    expect(await purge()).toBe(0);
    expect((await member.get(`/api/tasks/${live.task_id}`)).status).toBe(200);
    const [entry] = await findAudit(parent.task_id);
    expect(entry).toMatchObject({ actor_type: 'system', user_id: null, severity: 'MEDIUM', team_id: team.team_id });
    expect(JSON.parse(entry.details)).toMatchObject({ cause: 'retention', purged_count: 2 });
    expect(await findAudit(child.task_id)).toEqual([]);
    expect(await db()('activity').where({ entity_id: parent.task_id, action: 'purge' })).toEqual([]);
  });

  it('removes projects with everything in them, whenever it got there', async () => {
    const automation = await buildAutomation(app, team, { actions: [], ...project });
    await task();
    await trashProject();
    await age(31);
    await fill(1);
    expect(await purge()).toBe(3);
    expect(await left()).toEqual([]);
    expect((await member.get(`/api/automations/${automation.automation_id}`)).status).toBe(404);
  });

  it('works in batches of 500, and two at once remove each item once', async () => {
    await fill(1100);
    await age(31);
    const [one, two] = await Promise.all([purge(), purge()]);
    expect(one + two).toBe(1100);
    expect(await left()).toEqual([]);
    const gone = await db()('audit_entries').where({ team_id: team.team_id, action: 'purge' });
    expect(new Set(gone.map(({ entity_id }) => entity_id)).size).toBe(1100);
    expect(gone).toHaveLength(1100);
  });

  it('keeps what was done when a batch fails, and goes on from there', async () => {
    await fill(1100);
    await age(31);
    await db().raw(/* sql */ `
      create function fail() returns trigger language plpgsql as $$
      begin if (select count(*) from audit_entries where action = 'purge' and team_id = old.team_id) > 500 then raise exception 'broken'; end if; return old; end $$;
      create trigger fail before delete on tasks for each row execute function fail()`);
    await expect(purge()).rejects.toThrow('broken');
    await db().raw('drop function fail cascade');
    expect(await describeRows('tasks', 'project_id', project.project_id)).toBe(600);
    expect(await purge()).toBe(600);
  });

  it('is an hourly job', async () => {
    await fill(2);
    await age(31);
    expect(await maintenanceActivities(app.services).runMaintenanceJob('trash-purge')).toBe('purged 2 items');
  });
});

describe('restore against purge: one of them does it, the other finds nothing', () => {
  const ROUNDS = Array.from({ length: 20 }, (_, round) => round);

  it('a task, 20 rounds', async () => {
    for (const round of ROUNDS) {
      const parent = await task();
      const child = await under(parent);
      await trashTask(parent);
      const both = [() => restoreTask(parent), () => purgeTask(parent)];
      const answers = await Promise.all((round % 2 ? both : both.toReversed()).map((act) => act()));
      expect(getStatuses(answers)).toEqual([200, 404]);
      const restored = answers.some(({ body }) => body.restored_count === 2);
      const alive = await db()('tasks').whereIn('task_id', [parent.task_id, child.task_id]).whereNull('deleted_at');
      expect(alive).toHaveLength(restored ? 2 : 0);
      expect(await findAudit(parent.task_id)).toHaveLength(restored ? 0 : 1);
    }
  });

  it('a project, 20 rounds', async () => {
    for (const round of ROUNDS) {
      project = await buildProject(app, team);
      await task();
      await trashProject();
      const both = [() => restoreProject(), () => purgeProject()];
      const answers = await Promise.all((round % 2 ? both : both.toReversed()).map((act) => act()));
      expect(getStatuses(answers)).toEqual([200, 404]);
      const restored = answers.some(({ body }) => body.restored_count === 2);
      expect(await db()('tasks').where(project).whereNull('deleted_at')).toHaveLength(restored ? 1 : 0);
      expect(await describeRows('projects', 'project_id', project.project_id)).toBe(restored ? 1 : 0);
    }
  });

  it('items past their retention, 20 rounds', async () => {
    for (const _round of ROUNDS) {
      const parent = await task();
      await under(parent);
      await trashTask(parent);
      await age(31);
      const [answer, purged] = await Promise.all([restoreTask(parent), purgeExpired(app.services)]);
      expect([answer.status, purged]).toEqual(answer.status === 200 ? [200, 0] : [404, 2]);
    }
  });

  it('purges once for 10 concurrent requests', async () => {
    const one = await task();
    await trashTask(one);
    const answers = await Promise.all(Array.from({ length: 10 }, () => purgeTask(one)));
    expect(getStatuses(answers)).toEqual([200, ...Array<number>(9).fill(404)]);
    expect(await findAudit(one.task_id)).toHaveLength(1);
  });
});

it('a task that moved away with its parent is restored where it is by then, never alive in a project in the trash', async () => {
  for (let round = 0; round < 20; round += 1) {
    project = await buildProject(app, team);
    const there = await buildProject(app, team);
    const parent = await task();
    const child = await under(parent);
    await trashTask(child);
    const acts = [
      () => member.patch(`/api/tasks/${parent.task_id}`, there),
      () => restoreTask(child),
      () => member.delete(`/api/projects/${there.project_id}`),
    ];
    const answers = await Promise.all((round % 2 ? acts : acts.toReversed()).map((act) => act()));
    for (const { status } of answers) expect([200, 404, 409]).toContain(status);
    const { rows } = await db().raw(
      'select from tasks t join projects p using (project_id) where t.deleted_at is null and p.deleted_at is not null',
    );
    expect(rows).toEqual([]);
  }
});

it('while the lock is waited for, the task may get another project: it is looked up again', async () => {
  const there = await buildProject(app, team);
  const parent = await task();
  const child = await under(parent);
  await trashTask(child);
  let restored: Promise<{ status: number }> | undefined;
  await db().transaction(async (held) => {
    await held('projects').where(project).forUpdate().first();
    await held('tasks').whereIn('task_id', [parent.task_id, child.task_id]).update(there);
    restored = restoreTask(child);
    await until(async () => {
      const { rows } = await db().raw(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      return rows.length > 0;
    });
    await held('projects').where(there).update({ deleted_at: held.fn.now(), cascade_id: uuidv7() });
  });
  expect((await restored)?.status).toBe(409);
});

it('whatever holds on to a task, a project, an item or a comment is dealt with when that is purged', async () => {
  const { rows } = await db().raw<{ rows: { holds: string }[] }>(/* sql */ `
    select c.conrelid::regclass || '.' || a.attname as holds
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
    where c.contype = 'f' and c.confrelid in ('tasks'::regclass, 'projects'::regclass, 'items'::regclass, 'comments'::regclass)
      and c.confdeltype not in ('c', 'n', 'd') order by 1`);
  // A new one here goes into api/bulk/trash/erase.ts, or lets go by itself (on delete cascade, on delete set null).
  expect(rows.map(({ holds }) => holds)).toEqual([
    'comments.parent_comment_id',
    'comments.task_id',
    'cycles.project_id',
    'cycles.team_id',
    'files.item_id',
    'forge_links.task_id',
    'forge_repositories.project_id',
    'items.project_id',
    'items.team_id',
    'tasks.parent_task_id',
    'tasks.project_id',
    'tasks.team_id',
  ]);
});
