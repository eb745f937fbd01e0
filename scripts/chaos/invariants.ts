import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Knex } from 'knex';
import type { Process, WorkflowInvariant } from '../../activities/process.js';
import { PROCESSES } from '../../activities/processes.js';
import { verifyChain } from '../../api/audit/verify-chain.js';
import type { Services } from '../../api/platform/context.js';
import { run } from '../../db/statement.js';
import { acknowledgedImports, bulkInvariants } from './bulk-invariants.sql.js';
import { acknowledgedCycles, cycleInvariants } from './cycle-invariants.sql.js';
import { acknowledgedJobs, runnerInvariants } from './runner-invariants.sql.js';
import { acknowledgedCalls } from './gateway/gateway-invariants.sql.js';
import { acknowledgedFields, fieldInvariants } from './fields-invariants.sql.js';
import { acknowledgedGraph, graphInvariants } from './graph-invariants.sql.js';
import { acknowledged } from './ledger-invariants.sql.js';
import { planInvariants } from './plan-invariants.sql.js';
import { acknowledgedPlans } from './agent-ledger-invariants.sql.js';
import { acknowledgedWebhooks } from './webhook-invariants.sql.js';
import { acknowledgedRequests, requestInvariants } from './request-invariants.sql.js';
import { turnInvariants } from './turn-invariants.sql.js';
import { always } from './state-invariants.sql.js';
import type { Invariant } from './invariant.js';
import type { Ledger } from './ledger.js';

export interface Verdict {
  name: string;
  words: string;
  /** The first violations; empty if the invariant holds. */
  violations: string[];
  /** Why it could not be checked; null if it was. */
  skipped: string | null;
}

interface CheckOptions {
  services: Pick<Services, 'db' | 'config'>;
  /** Acknowledged writes; without them only state invariants are checked. */
  ledger?: Ledger | undefined;
  /** Client to query about runs that seem stuck; without it they count as stuck. */
  temporal?: Client | undefined;
  /** Processes whose open rows need a workflow. */
  processes?: readonly Process[];
}

/** Maximum number of violations listed. */
const SHOWN = 20;

/** Foreign keys between tables that both have a team id. */
const FOREIGN_KEYS = /* sql */ `
  select c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent, c.conname as name,
    (select string_agg(format('c.%I = p.%I', ca.attname, pa.attname), ' and ')
      from unnest(c.conkey, c.confkey) as k(child, parent)
      join pg_attribute ca on ca.attrelid = c.conrelid and ca.attnum = k.child
      join pg_attribute pa on pa.attrelid = c.confrelid and pa.attnum = k.parent
      where ca.attname <> 'team_id') as matched
  from pg_constraint c
  where c.contype = 'f' and c.confrelid <> 'teams'::regclass
    and exists (select from pg_attribute a where a.attrelid = c.conrelid and a.attname = 'team_id' and not a.attisdropped)
    and exists (select from pg_attribute a where a.attrelid = c.confrelid and a.attname = 'team_id' and not a.attisdropped)
  order by 1, 3`;

/** Builds the SQL that finds rows of one team referring to a row of another, from the existing foreign keys. */
async function crossTeamSql(db: Knex): Promise<string> {
  interface Key {
    child: string;
    parent: string;
    name: string;
    matched: string;
  }
  const { rows } = await db.raw<{ rows: Key[] }>(FOREIGN_KEYS);
  const parts = rows.map(
    ({ child, parent, name, matched }) =>
      `select format('%s: a row of team %s refers to one of team %s', '${name}', c.team_id, p.team_id) as violation
       from ${child} c join ${parent} p on ${matched} where c.team_id <> p.team_id`,
  );
  return `${parts.join('\nunion all\n')} limit ${SHOWN}`;
}

async function isOpen(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

async function find(db: Knex, name: string, text: string, values: unknown[] = []): Promise<string[]> {
  const rows = await run<{ violation: string }>(db, { name: `invariant_${name}`, text }, values);
  return rows.map((row) => row.violation);
}

/** Returns the ids that the invariant finds and that have no open workflow. */
async function withoutWorkflow(
  { services, temporal }: CheckOptions,
  { name, sql, buildWorkflowId }: WorkflowInvariant,
): Promise<string[]> {
  const found = await find(services.db, name, sql);
  const open = await Promise.all(
    found.map(async (id) => temporal !== undefined && (await isOpen(temporal, buildWorkflowId(id)))),
  );
  return found.filter((_, i) => !open[i]).map((id) => `${buildWorkflowId(id)} is no open workflow`);
}

async function findBrokenChain(services: CheckOptions['services']): Promise<string[]> {
  const { breaks } = await verifyChain(services);
  return breaks.map(
    ({ kind, chain, sequence, audit_id, detail }) =>
      `${kind}, chain ${chain}, sequence ${sequence}, entry ${audit_id}: ${detail}`,
  );
}

/** Checks every invariant, in the order of the printed table. */
export async function checkInvariants(options: CheckOptions): Promise<Verdict[]> {
  const { services, ledger, processes = PROCESSES } = options;
  const { db } = services;
  const verdicts: Verdict[] = [];
  const judge = async ({ name, words }: Pick<Invariant, 'name' | 'words'>, look: () => Promise<string[]>) => {
    verdicts.push({ name, words, violations: (await look()).slice(0, SHOWN), skipped: null });
  };
  for (const { name, words, sql } of [
    ...acknowledged,
    ...acknowledgedGraph,
    ...acknowledgedCycles,
    ...acknowledgedJobs,
    ...acknowledgedFields,
    ...acknowledgedImports,
    ...acknowledgedPlans,
    ...acknowledgedRequests,
    ...acknowledgedCalls,
    ...acknowledgedWebhooks,
  ]) {
    if (ledger) await judge({ name, words }, () => find(db, name, sql, [JSON.stringify(ledger)]));
    else verdicts.push({ name, words, violations: [], skipped: 'no record of what was acknowledged' });
  }
  for (const invariant of [
    ...always,
    ...graphInvariants,
    ...cycleInvariants,
    ...runnerInvariants,
    ...fieldInvariants,
    ...planInvariants,
    ...requestInvariants,
    ...turnInvariants,
    ...bulkInvariants,
  ])
    await judge(invariant, () => find(db, invariant.name, invariant.sql));
  for (const invariant of processes.flatMap((process) => process.invariants))
    await judge(invariant, () => withoutWorkflow(options, invariant));
  await judge({ name: 'teams_apart', words: 'No row of one team refers to a row of another' }, async () =>
    find(db, 'teams_apart', await crossTeamSql(db)),
  );
  await judge({ name: 'chain_intact', words: 'Every audit entry is sealed, and every chain verifies' }, () =>
    findBrokenChain(services),
  );
  return verdicts;
}
