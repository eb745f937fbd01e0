/** Conditions that must hold under concurrent requests. `npm run test:long` runs each race far more often. */
import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { buildPerson, buildProject } from '../../../factories/people.js';
import type { Answer } from '../../../support/app.js';
import { ROUNDS, taskWorld } from './world.js';

/** A hundred requests at once on eight connections: what is asked is who wins, not how long that takes on a busy machine. */
const world = taskWorld(60_000);
const RACERS = 20;
const LONG = 120_000 + ROUNDS * 2_000;

const db = () => world.app.services.db;
const statuses = (answers: Answer[]): Record<number, number> =>
  answers.reduce<Record<number, number>>((sum, { status }) => ({ ...sum, [status]: (sum[status] ?? 0) + 1 }), {});
const race = <T>(racers: (() => Promise<T>)[]): Promise<T[]> => Promise.all(racers.map((start) => start()));
const times = <T>(count: number, of: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => of(nth));
const patch = (taskId: string, fields: Record<string, unknown>) => world.member.patch(`/api/tasks/${taskId}`, fields);
const rounds = async (play: (round: number) => Promise<void>): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) await play(round);
};

// Many rounds leave much behind; what each reads of it is found by these.
beforeAll(async () => {
  await db().raw(`create index on outbox ((payload->'task'->>'task_id'))`);
  await db().raw('create index on audit_entries (entity_id)');
});

/** No invariant of the installation is broken by the races; the outbox is not processed here. */
afterEach(async () => {
  const verdicts = await checkInvariants({ services: world.app.services });
  const broken = verdicts.filter(({ name, violations }) => name !== 'outbox_empty' && violations.length > 0);
  expect(broken).toEqual([]);
}, LONG);

it(
  'version: of writers that have read the same version one wins, and only that one leaves traces',
  async () => {
    await rounds(async () => {
      const { task_id } = await world.make();
      const answers = await race(times(RACERS, (nth) => () => patch(task_id, { title: `by ${nth}`, version: 1 })));
      expect(statuses(answers)).toEqual({ 200: 1, 409: RACERS - 1 });
      for (const { status, body } of answers) {
        if (status === 409)
          expect(body.changed_since).toMatchObject({ version: 2, fields: ['title'], by: world.team.member.user_id });
      }
      const { audit, activity, events } = await world.traces(task_id);
      expect([audit.length, activity.length, events.length]).toEqual([2, 2, 2]);
    });
  },
  LONG,
);

it(
  'status: without a version every write counts, and the last one stands',
  async () => {
    const order = ['in_progress', 'in_review', 'done', 'todo'];
    await rounds(async () => {
      const { task_id } = await world.make();
      const racers = times(RACERS, (nth) => () => world.member.put(`/api/tasks/${task_id}/status`, { status: order[nth % 4] }));
      expect(statuses(await race(racers))).toEqual({ 200: RACERS });
      const { audit } = await world.traces(task_id);
      const changes = audit.slice(1).map((entry) => JSON.parse(entry['details'] as string));
      const row = await world.row(task_id);
      expect(changes.map(({ version }) => version).sort((a, b) => a - b)).toEqual(times(changes.length, (nth) => nth + 2));
      const last = changes.find(({ version }) => version === row['version']);
      expect(last.changes.status.to).toBe(row['status']);
      expect(row['completed_at'] === null).toBe(row['status'] !== 'done');
    });
  },
  LONG,
);

it(
  'task_id: one creation a key, whichever route and project the racers use',
  async () => {
    const other = await buildProject(world.app, world.team);
    await rounds(async (round) => {
      const keys = times(5, (nth) => `${round}.${nth}:${world.team.team_id}`);
      await Promise.all(
        keys.map(async (task_id) => {
          const here = { title: 'Here', ...world.project, task_id };
          const answers = await race(
            times(RACERS, (nth) => async () => {
              if (nth % 4 === 3) return world.member.post('/api/tasks', { ...here, ...other });
              if (nth % 4 === 2) return world.member.post('/api/tasks/bulk?atomic=true', [here]);
              return world.member.post('/api/tasks', here);
            }),
          );
          const made = answers.filter(({ status, body }) => status === 201 || body.created === 1);
          expect(made).toHaveLength(1);
          expect(answers.every(({ status }) => [200, 201, 409].includes(status))).toBe(true);
          const { audit, events } = await world.traces(task_id);
          expect([audit.length, events.length]).toEqual([1, 1]);
          const wins = (await world.row(task_id))['project_id'] === world.project.project_id;
          expect(statuses(answers)[409]).toBe(wins ? RACERS / 4 : (RACERS * 3) / 4);
        }),
      );
    });
  },
  LONG,
);

it(
  'subtasks: two tasks never slip below each other, nor three',
  async () => {
    await rounds(async () => {
      const ids = (await Promise.all(times(3, () => world.make()))).map(({ task_id }) => task_id) as [string, string, string];
      const below = (nth: number, size: number) => patch(ids[nth % size] as string, { parent_task_id: ids[(nth + 1) % size] });
      const pair = await race(times(RACERS, (nth) => () => below(nth, 2)));
      expect(Object.keys(statuses(pair))).toEqual(['200', '400']);
      await race(ids.map((id) => () => patch(id, { parent_task_id: null })));
      const ring = await race(times(RACERS, (nth) => () => below(nth, 3)));
      expect(Object.keys(statuses(ring))).toEqual(['200', '400']);
      const rows = await Promise.all(ids.map((id) => world.row(id)));
      expect(rows.filter((row) => row['parent_task_id'] === null)).toHaveLength(1);
    });
  },
  LONG,
);

it(
  'subtasks: moving a subtree down while it grows never goes deeper than 20',
  async () => {
    let parent: string | undefined;
    for (let level = 0; level < 18; level += 1) parent = (await world.make({ parent_task_id: parent ?? null })).task_id;
    const deep = parent as string;
    await rounds(async () => {
      const branch = await world.make();
      const twig = await world.make({ parent_task_id: branch.task_id });
      const answers = await race([
        () => patch(branch.task_id, { parent_task_id: deep }),
        ...times(3, () => () => world.member.post('/api/tasks', { title: 'x', ...world.project, parent_task_id: twig.task_id })),
        () => world.member.post('/api/tasks/bulk?atomic=true', [{ title: 'x', ...world.project, parent_task_id: twig.task_id }]),
      ]);
      const grown = answers.slice(1).filter(({ status }) => status < 300).length;
      // Either it lies at level 19 with its twig at 20, and nothing has grown; or something has, and it stayed.
      if (answers[0]?.status === 200) expect(grown).toBe(0);
      else expect(answers[0]?.status).toBe(400);
    });
  },
  LONG,
);

it(
  'projects: a subtree moves as one, whatever is nested and added below it meanwhile',
  async () => {
    const other = await buildProject(world.app, world.team);
    await rounds(async () => {
      const root = await world.make();
      const child = await world.make({ parent_task_id: root.task_id });
      const stray = await world.make();
      const answers = await race([
        () => patch(root.task_id, other),
        () => patch(child.task_id, { title: 'busy' }),
        () => patch(stray.task_id, { parent_task_id: child.task_id }),
        () => patch(root.task_id, { parent_task_id: stray.task_id }),
        ...times(4, () => () => world.member.post('/api/tasks', { title: 'x', ...world.project, parent_task_id: child.task_id })),
      ]);
      for (const { status } of answers) expect([200, 201, 400, 409]).toContain(status);
      const split = await db().raw(
        'select c.task_id from tasks c join tasks p on p.task_id = c.parent_task_id where c.project_id <> p.project_id',
      );
      expect(split.rows).toEqual([]);
    });
  },
  LONG,
);

it(
  'trash against create: nothing lives below what went to the trash',
  async () => {
    await rounds(async () => {
      const project = await buildProject(world.app, world.team);
      const task = await world.make(project);
      const child = await world.make({ ...project, parent_task_id: task.task_id });
      const fields = { title: 'x', ...project };
      const grow = (parent_task_id?: string) => () => world.member.post('/api/tasks', { ...fields, parent_task_id });
      const bulk = () => world.member.post('/api/tasks/bulk', [fields, { ...fields, parent_task_id: child.task_id }]);
      const first = await race([
        ...times(4, () => grow(child.task_id)),
        () => world.member.delete(`/api/tasks/${task.task_id}`),
        bulk,
        ...times(4, () => grow(child.task_id)),
      ]);
      for (const { status } of first) expect([200, 201, 404]).toContain(status);
      const orphans = await db().raw(
        `select c.task_id from tasks c join tasks p on p.task_id = c.parent_task_id
         where c.deleted_at is null and p.deleted_at is not null`,
      );
      expect(orphans.rows).toEqual([]);
      const second = await race([
        ...times(4, () => grow()),
        () => world.member.delete(`/api/projects/${project.project_id}`),
        bulk,
        grow(),
      ]);
      for (const { status } of second) expect([200, 201, 404]).toContain(status);
      expect(await db()('tasks').where(project).whereNull('deleted_at')).toEqual([]);
    });
  },
  LONG,
);

it(
  'trash against a move: a creation under the moved task leaves nothing alive below it',
  async () => {
    const [here, there] = [await buildProject(world.app, world.team), await buildProject(world.app, world.team)];
    await rounds(async () => {
      const { task_id } = await world.make(here);
      const grow = (place: object) => world.member.post('/api/tasks', { title: 'x', ...place, parent_task_id: task_id });
      const follow = async () => {
        for (let nth = 0; nth < 6; nth += 1) await grow(there);
      };
      await race([
        () => patch(task_id, there),
        ...times(3, () => follow),
        () => world.member.delete(`/api/tasks/${task_id}`),
        ...times(3, () => follow),
      ] as (() => Promise<unknown>)[]);
      const orphans = await db().raw(
        `select c.task_id from tasks c join tasks p on p.task_id = c.parent_task_id
         where c.deleted_at is null and p.deleted_at is not null`,
      );
      expect(orphans.rows).toEqual([]);
    });
  },
  LONG,
);

it(
  'member removed during a write: keeps no open task and writes nothing more',
  async () => {
    await rounds(async () => {
      const leaver = await buildPerson(world.app);
      await db()('memberships').insert({ team_id: world.team.team_id, user_id: leaver.user_id, role: 'member' });
      const theirs = world.app.as(leaver);
      const task = await world.make();
      const mine = { assigned_to: leaver.user_id };
      const fields = { title: 'x', ...world.project };
      const answers = await race([
        () => theirs.post('/api/tasks', { ...fields, ...mine }),
        () => world.member.post('/api/tasks', { ...fields, ...mine }),
        () => world.member.post('/api/tasks/bulk', [{ ...fields, ...mine }, fields]),
        () => world.app.as(world.team.admin).delete(`/api/teams/${world.team.team_id}/members/${leaver.user_id}`),
        () => patch(task.task_id, mine),
        () => theirs.patch(`/api/tasks/${task.task_id}`, { title: 'Mine', ...mine }),
        () => theirs.post('/api/tasks/bulk', [fields]),
        () => world.member.post('/api/tasks', { ...fields, ...mine }),
      ]);
      for (const { status } of answers) expect([200, 201, 400, 403]).toContain(status);
      expect(await db()('tasks').where(mine)).toEqual([]);
      expect((await theirs.post('/api/tasks', fields)).status).toBe(403);
      const [removal] = await db()('audit_entries').where({ correlation_id: answers[3]?.headers.get('x-correlation-id') });
      const late = await db()('audit_entries').where({ user_id: leaver.user_id }).where('timestamp', '>', removal.timestamp);
      expect(late).toEqual([]);
    });
  },
  LONG,
);

it(
  'concurrent reads: each caller gets their own response',
  async () => {
    const stranger = world.app.as(await buildPerson(world.app));
    const guest = world.app.as(world.team.guest);
    const tasks = await Promise.all(times(10, () => world.make()));
    const child = await world.make({ parent_task_id: tasks[0]?.task_id as string });
    await rounds(async () => {
      const reads = tasks.flatMap(({ task_id }) =>
        [world.member, guest, stranger].map((caller) => async () => ({
          caller,
          task_id,
          answer: await caller.get(`/api/tasks/${task_id}`),
        })),
      );
      const unknown = async () => ({ caller: world.member, task_id: 'none', answer: await world.member.get('/api/tasks/none') });
      const people = times(
        4,
        (nth) => async () => (await (nth % 2 ? guest : world.member).get('/api/auth/me')).body.user_id as string,
      );
      const [answers, ids] = await Promise.all([race([...reads, unknown]), race(people)]);
      for (const { caller, task_id, answer } of answers) {
        const expected = task_id === 'none' ? 404 : caller === stranger ? 403 : 200;
        expect([task_id, answer.status]).toEqual([task_id, expected]);
        if (expected !== 200) continue;
        const below = task_id === tasks[0]?.task_id ? [child.task_id] : [];
        expect(answer.body).toMatchObject({ task_id, subtasks: below.map((id) => ({ task_id: id, parent_task_id: task_id })) });
      }
      expect(ids).toEqual(times(4, (nth) => (nth % 2 ? world.team.guest : world.team.member).user_id));
    });
  },
  LONG,
);
