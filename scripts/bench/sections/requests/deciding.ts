import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { run } from '../../../../db/statement.js';
import { figuresStatement } from '../../../../api/approvals/figures.sql.js';
import { call } from '../../client.js';
import { addPending, dropPending, gatedAutomation } from '../../pending.js';
import type { Section } from '../../report.js';
import { bearer, expect, send } from '../../send.js';
import type { World } from '../../seed.js';
import type { ApiService, Servers } from '../../servers.js';
import { bareUpdates } from '../agent-plans.js';
import { withSides } from '../requests-section.js';
import { ask, below, hire, hireBoth, Times } from './people.js';

const SIZE = 100;
const BATCHES = 16;
const WARM_UP = 4;

interface Item {
  kind: 'gate' | 'request';
  id: string;
  staged_hash: string;
}

/** Approves all in one call. @throws Error one of them was refused */
async function approve(api: ApiService, approver: World, mode: 'each' | 'all', items: Item[]): Promise<void> {
  const { body } = await call(api, approver, 'POST', '/api/approvals/decide', { decision: 'approve', mode, items });
  const refused = (body['results'] as { error_code?: string }[]).find(({ error_code }) => error_code !== undefined);
  if (refused) throw new Error(`A decision was refused: ${JSON.stringify(refused)}`);
}

/** A hundred decisions of one call, by both modes, beside a hundred bare updates in one transaction. */
export const batchSection: Section = (servers, world) =>
  withSides(servers, async ({ product: api }) => {
    const { db } = servers;
    const automation = await gatedAutomation(servers, world);
    const [, approver] = await hireBoth(servers, world);
    const gates = async (): Promise<Item[]> => {
      // Of a task that no bare update changes: one that has changed is decided by itself.
      const ids = await addPending(servers, { ...world, tasks: world.tasks.slice(-1) }, automation, SIZE);
      const hashes = await db('gates')
        .whereIn('run_id', ids)
        .select<{ run_id: string; staged_hash: string }[]>('run_id', 'staged_hash');
      return hashes.map(({ run_id, staged_hash }) => ({ kind: 'gate', id: run_id, staged_hash }));
    };
    const requests = async (): Promise<Item[]> => {
      // One person has at most a hundred open ones.
      const asker = await hire(servers, world, 'member', ['requests:create', 'requests:read']);
      const items: Item[] = [];
      while (items.length < SIZE) {
        const { request_id, request_hash } = await ask(api, asker);
        items.push({ kind: 'request', id: request_id, staged_hash: request_hash });
      }
      return items;
    };
    const times = new Times(WARM_UP);
    for (let nth = 0; nth < BATCHES + WARM_UP; nth += 1) {
      await times.take('bare updates', () => bareUpdates(servers, world, nth, SIZE));
      for (const mode of ['each', 'all'] as const) {
        const [ofGates, ofRequests] = [await gates(), await requests()];
        await times.take(`gates, ${mode}`, () => approve(api, world, mode, ofGates));
        await times.take(`requests, ${mode}`, () => approve(api, approver, mode, ofRequests));
        await db('change_requests')
          .whereIn(
            'request_id',
            ofRequests.map(({ id }) => id),
          )
          .delete();
      }
    }
    await dropPending(servers, automation);
    const kinds = ['gates, each', 'gates, all', 'requests, each', 'requests, all'];
    return [
      {
        name: `${SIZE} decisions in one call`,
        goals: kinds.map((kind) => below(`${kind}, p50`, times.get(kind, 0.5), 150)),
        notes: times.describe(),
      },
    ];
  });

const DECISIONS = 100_000;
const READS = 100;

/** Decisions of the last 30 days: of forty automations and ten systems, by twenty people, most of them approvals. */
const DECIDE = /* sql */ `
  insert into decision_log (decision_id, kind, team_id, user_id, source, state, requested_at, decided_by)
  select uuidv7(-age), case when nth % 5 = 0 then 'request' else 'gate' end, :team, :user,
    case when nth % 5 = 0 then 'request:system-' || nth % 10 else (:sources::text[])[1 + nth % 40] end,
    (array['approved', 'approved', 'approved', 'rejected', 'expired'])[1 + nth % 5], now() - age - random() * interval '4 hours',
    case when nth % 5 <> 4 then (:people::uuid[])[1 + nth % 20] end
  from (select nth, random() * interval '29 days' as age from generate_series(1, :count) nth) made`;

const COUNTS = /* sql */ `
  select source, count(*) from decision_log
  where team_id = :team and decision_id >= uuid_at(:from) and decision_id < uuid_at(now()) group by source`;

const list = (count: number): string[] => Array.from({ length: count }, () => uuidv7());

async function fillLog(db: Knex, { userId }: World): Promise<string> {
  const team = uuidv7();
  await db('teams').insert({ team_id: team, name: 'Bench figures', created_by: userId });
  await db('memberships').insert({ team_id: team, user_id: userId, role: 'admin' });
  await db.raw(DECIDE, { team, user: userId, sources: list(40), people: list(20), count: DECISIONS });
  await db.raw('vacuum (analyze) decision_log');
  return team;
}

/** Figures of a team over 100,000 decisions, beside their statement and beside a bare count of the same rows. */
export const figuresSection: Section = (servers: Servers, world) =>
  withSides(servers, async ({ product }) => {
    const { db } = servers;
    const team = await fillLog(db, world);
    const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
    const times = new Times(WARM_UP);
    for (let nth = 0; nth < READS + WARM_UP; nth += 1) {
      await times.take('bare count', () => db.raw(COUNTS, { team, from }).then(() => undefined));
      for (const by of ['source', 'approver']) {
        const values = [team, world.userId, from, new Date().toISOString(), by, true];
        await times.take(`statement, by ${by}`, () => run(db, figuresStatement, values));
        const path = `/api/approvals/figures?team_id=${team}&by=${by}`;
        await times.take(`by ${by}`, () => expect(200, send(product.port, path, bearer(world))));
      }
    }
    await db('decision_log').where({ team_id: team }).delete();
    return [
      {
        name: `GET /api/approvals/figures over ${DECISIONS.toLocaleString('en')} decisions, one connection`,
        goals: ['source', 'approver'].map((by) => below(`by ${by}, p50`, times.get(`by ${by}`, 0.5), 150)),
        notes: times.describe(),
      },
    ];
  });
