import { requestBytes, type Source } from '../load.js';
import type { Goal, Section } from '../report.js';
import { computeFigures, measureRound } from '../rounds.js';
import type { World } from '../seed.js';
import { withSides } from './requests-section.js';

const EDGES = 500;
const WRITERS = 20;
const NODES = 300;
const MERGES = 100_000;
/** Spread of the merges, so that a window of 90 days holds a tenth of them. */
const DAYS = 900;
const WARM_UP_SECONDS = 3;

const buildHeaders = ({ token }: World) => ({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' });
const less = (what: string, value: number, goal: number): Goal => ({ what, value, goal, better: 'less', unit: ' ms' });

/** Reads of one path, sequentially: p50 and p99. */
const readSection = (name: string, path: (world: World) => string, goal: number, prepare: Section): Section => {
  return (servers, world, load) =>
    withSides(servers, async ({ product }) => {
      await prepare(servers, world, load);
      const bytes = requestBytes('GET', path(world), buildHeaders(world));
      const source: Source = { expect: 200, next: () => bytes };
      await measureRound(servers, product, source, 1, WARM_UP_SECONDS);
      const read = computeFigures([await measureRound(servers, product, source, 1, load.seconds * load.rounds)]);
      if (read.errors > 0) throw new Error(`${read.errors} answers were not the expected ones`);
      const cpu = `CPU ms: ${read.cpuApp.toFixed(2)} API, ${read.cpuPostgres.toFixed(2)} PostgreSQL`;
      return [
        {
          name,
          goals: [less('p50', read.p50, goal)],
          notes: [`p99 ${read.p99.toFixed(2)} ms  ${read.requests} requests  ${cpu}`],
        },
      ];
    });
};

/** The edges of an item that has 500. */
export const edgesSection: Section = readSection(
  `GET /api/work-items/:id/relations of ${EDGES} edges, one connection`,
  (world) => `/api/work-items/${world.tasks[0]}/relations`,
  10,
  async ({ db }, { tasks, teamId, userId }) => {
    await db.raw(
      `insert into relations (relation_type, source_id, target_id, kind, from_id, to_id, from_team_id, to_team_id, team_id, created_by)
        select 'attached_to', ?, far, 'attached', ?, far, ?, ?, ?, ? from unnest(?::text[]) as far on conflict do nothing`,
      [tasks[0], tasks[0], teamId, teamId, teamId, userId, tasks.slice(1, EDGES + 1)] as never,
    );
    await db.raw('vacuum (analyze) relations');
    return [];
  },
);

/** Cycle times of one team that merged 100,000 pull requests. */
export const cycleTimeSection: Section = readSection(
  `GET /api/work-items/cycle-time at ${MERGES.toLocaleString('en')} merged pull requests, 90 days, one connection`,
  ({ teamId }) => `/api/work-items/cycle-time?team_id=${teamId}`,
  50,
  async ({ db }, { teamId, listed }) => {
    await db.raw(
      `insert into cycle_times (team_id, repo, issue_number, opened_at, pr_number, merged_at, project_id)
        select ?::uuid, 'acme/rocket-' || n % 5, n, at - interval '1 hour' * (1 + n % 200), n, at, ?::uuid
        from generate_series(1, ?::int) n cross join lateral (select now() - interval '1 day' * (n::float8 * ? / ?) as at) merged
        on conflict do nothing`,
      [teamId, listed, MERGES, DAYS, MERGES],
    );
    await db.raw('vacuum (analyze) cycle_times');
    return [];
  },
);

/** Twenty writers of random `blocks` edges among 300 tasks of one team. Refusals of cycles and of edges that exist count as answers. */
export const edgeWritersSection: Section = (servers, world, { seconds, rounds }) =>
  withSides(servers, async ({ product }) => {
    const nodes = world.tasks.slice(-NODES);
    const any = () => nodes[Math.floor(Math.random() * nodes.length)] as string;
    const source: Source = {
      expect: [200, 201, 400, 409],
      next: () =>
        requestBytes(
          'POST',
          '/api/work-items/relations',
          buildHeaders(world),
          Buffer.from(JSON.stringify({ source_id: any(), target_id: any(), relation_type: 'blocks' })),
        ),
    };
    await measureRound(servers, product, source, WRITERS, WARM_UP_SECONDS);
    const stored = async () => Number((await servers.db('relations').count({ edges: '*' }).first())?.['edges'] ?? 0);
    const before = await stored();
    const started = performance.now();
    const write = computeFigures([await measureRound(servers, product, source, WRITERS, seconds * rounds)]);
    const elapsed = (performance.now() - started) / 1_000;
    const rate = ((await stored()) - before) / elapsed;
    return [
      {
        name: `POST /api/work-items/relations by ${WRITERS} writers of one team`,
        goals: [{ what: 'edges stored', value: rate, goal: 400, better: 'more', unit: '/s' }],
        notes: [
          `${write.rate.toFixed(0)} requests/s, refusals included  p50 ${write.p50.toFixed(1)} ms  p99 ${write.p99.toFixed(1)} ms  CPU ms: ${write.cpuApp.toFixed(2)} API, ${write.cpuPostgres.toFixed(2)} PostgreSQL`,
        ],
      },
    ];
  });
