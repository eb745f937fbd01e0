import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { drive, type Load, requestBytes, type Source } from '../load.js';
import { createAccounts, stormSource } from './login-storm.js';
import type { Goal, Result, Section } from '../report.js';
import { taskSources } from '../requests.js';
import { addProject, seed, type World } from '../seed.js';
import type { ApiService, Servers } from '../servers.js';
import { quantile } from '../statistics.js';

/** Connections of the disturbing user. */
const LOUD = 32;
/** Connections of the other user, per request. */
const CALM = 2;
const BULK = 500;
/** Tasks of the recurring tree, root included. */
const TREE = 1_000;
/** Time for which the disturbing transaction locks the task, ms. */
const LOCKED_MS = 3_000;
const UNLOCKED_MS = 50;
/** Allowed growth of the other user's p99, ms. */
const GOAL_MS = 50;

interface PageShell {
  servers: Servers;
  api: ApiService;
  world: World;
  seconds: number;
}

/** Load that one user causes for a number of seconds, after its preparation; the note tells how often. */
interface Disturbance {
  what: string;
  prepare: (around: PageShell) => Promise<() => Promise<string>>;
}

const note = (what: string, { count, errors, seconds }: Load): string =>
  `${what}: ${count} answers in ${seconds.toFixed(0)} s, ${errors} of them refused`;

const parseJson = ({ token }: World) => ({
  Authorization: `Bearer ${token}`,
  'User-Agent': 'bench',
  'Content-Type': 'application/json',
});
const encodeJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Changes one task from many connections, while another transaction of the same user locks it most of the time. */
async function lockOneTask(db: Knex, { api, world, seconds }: PageShell): Promise<string> {
  const [task] = world.tasks as [string];
  const until = performance.now() + seconds * 1_000;
  const holding = (async () => {
    while (performance.now() < until) {
      await db.transaction(async (trx) => {
        await trx('tasks').where({ task_id: task }).forUpdate().select('task_id');
        await sleep(Math.min(LOCKED_MS, Math.max(0, until - performance.now())));
      });
      await sleep(UNLOCKED_MS);
    }
  })();
  const change = requestBytes('PATCH', `/api/tasks/${task}`, parseJson(world), encodeJson({ title: 'Changed by many' }));
  const [load] = await Promise.all([drive(api.port, LOUD, seconds, { expect: 200, next: () => change }), holding]);
  return note('changes of one locked task', load);
}

async function bulkCreate(project_id: string, { api, world, seconds }: PageShell): Promise<string> {
  const items = Array.from({ length: BULK }, () => ({ title: 'One of many', project_id, tags: ['bulk'] }));
  const create = requestBytes('POST', '/api/tasks/bulk', parseJson(world), encodeJson(items));
  return note(`creations of ${BULK}`, await drive(api.port, LOUD, seconds, { expect: 200, next: () => create }));
}

/** Creates a recurring task with subtasks; returns its series. */
async function plantSeries({ servers: { db }, world }: PageShell): Promise<string> {
  const project = await addProject(db, world, TREE);
  const [root, ...rest] = await db('tasks').where({ project_id: project }).orderBy('task_id').pluck<string[]>('task_id');
  await db('tasks').whereIn('task_id', rest).update({ parent_task_id: root });
  const recurrence = { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC', until: null, count: null };
  const [task] = await db('tasks')
    .where({ task_id: root })
    .update({ due_date: '2026-01-01', recurrence })
    .returning<{ series_id: string }[]>('series_id');
  return (task as { series_id: string }).series_id;
}

/** Completes the newest occurrence as soon as it exists. */
async function closeRecurring(series_id: string, { servers, api, world, seconds }: PageShell): Promise<string> {
  const until = performance.now() + seconds * 1_000;
  let closed = 0;
  while (performance.now() < until) {
    const open = await servers
      .db('tasks')
      .where({ series_id, occurrence_index: closed + 1 })
      .first<{ task_id: string } | undefined>();
    if (!open) {
      await sleep(10);
      continue;
    }
    const path = `http://127.0.0.1:${api.port}/api/tasks/${open.task_id}/status`;
    const answer = await fetch(path, { method: 'PATCH', headers: parseJson(world), body: encodeJson({ status: 'done' }) });
    if (answer.ok) closed += 1;
  }
  return `recurring tasks of ${TREE} closed: ${closed} in ${seconds} s`;
}

const DISTURBANCES: Disturbance[] = [
  {
    what: 'one person changes one locked task from 32 connections',
    async prepare(around) {
      const db = around.servers.open();
      return () => lockOneTask(db, around);
    },
  },
  {
    what: 'one person creates 500 tasks at a time from 32 connections',
    async prepare(around) {
      const project = await addProject(around.servers.db, around.world, 0);
      return () => bulkCreate(project, around);
    },
  },
  {
    what: '32 clients sign in',
    async prepare({ servers, api, seconds }) {
      await createAccounts(servers);
      return async () => note('sign-ins', await drive(api.port, LOUD, seconds, stormSource()));
    },
  },
  {
    what: 'one person closes a recurring task of 1,000 again and again',
    async prepare(around) {
      await around.servers.startTemporal();
      const worker = await around.servers.startWorker();
      const series = await plantSeries(around);
      return async () => {
        const said = await closeRecurring(series, around);
        await worker.stop();
        return said;
      };
    },
  },
];

type Calm = Record<'GET /api/auth/me' | 'PATCH of another task', Load>;

/** Load of the other user: reads their account and changes their tasks. */
export async function live(port: number, seconds: number, sources: { me: Source; update: Source }): Promise<Calm> {
  const [me, update] = await Promise.all([drive(port, CALM, seconds, sources.me), drive(port, CALM, seconds, sources.update)]);
  return { 'GET /api/auth/me': me, 'PATCH of another task': update };
}

const p99 = ({ latencies }: Load): number => quantile(latencies, 0.99);

export function toResult(what: string, alone: Calm, beside: Calm, said: string): Result {
  const names = Object.keys(alone) as (keyof Calm)[];
  const goals = names.map(
    (name): Goal => ({
      what: `p99 of ${name}, more than alone`,
      value: Math.max(0, p99(beside[name]) - p99(alone[name])),
      goal: GOAL_MS,
      better: 'less',
      unit: ' ms',
    }),
  );
  const line = (name: keyof Calm) => {
    const failed = beside[name].errors > 0 ? `, ${beside[name].errors} failed` : '';
    return `${name}: p99 ${p99(alone[name]).toFixed(1)} ms alone, ${p99(beside[name]).toFixed(1)} ms beside it${failed}`;
  };
  return { name: `a stranger, while ${what}`, goals, notes: [...names.map(line), said] };
}

/** Effect of one user's heavy load on a user in another team. */
export const strangersSection: Section = async (servers, world, load) => {
  const stranger = await seed(servers.db, 5_000, 'stranger');
  const api = await servers.startApi();
  const seconds = load.seconds * load.rounds;
  const { me, update } = taskSources(stranger);
  await live(api.port, Math.max(2, seconds / 2), { me, update });
  const results: Result[] = [];
  for (const { what, prepare } of DISTURBANCES) {
    const disturb = await prepare({ servers, api, world, seconds });
    const alone = await live(api.port, seconds, { me, update });
    const [beside, said] = await Promise.all([live(api.port, seconds, { me, update }), disturb()]);
    results.push(toResult(what, alone, beside, said));
  }
  await api.stop();
  return results;
};
