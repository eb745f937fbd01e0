import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { canonicalForm, type StoredEntry } from '../../../../api/audit/chain.js';
import type { TestApp } from '../../../support/app.js';

/** An entry as the API returns it. */
export type Entry = Record<string, unknown> & {
  audit_id: string;
  sequence: number;
  timestamp: string;
  prev_hash: string;
  entry_hash: string;
  details_text: string;
};

interface Written {
  team_id: string | null;
  audit_id?: string;
  correlation_id?: string;
  user_id?: string | null;
  ip?: string;
  feature?: string;
  action?: string;
  severity?: string;
  entity_type?: string;
  entity_id?: string;
  details?: object;
}

/** Writes one entry as the product does, and returns its id. */
export async function writeEntry({ services: { db } }: Pick<TestApp, 'services'>, entry: Written): Promise<string> {
  const id = entry.audit_id ?? uuidv7();
  const who = {
    request_id: id,
    correlation_id: entry.correlation_id ?? id,
    actor_type: 'user',
    user_id: entry.user_id === undefined ? uuidv7() : entry.user_id,
    email: 'ada@demo.test',
    ip: entry.ip ?? '10.0.0.7',
    user_agent: 'test',
  };
  const change = {
    team_id: entry.team_id,
    feature: entry.feature ?? 'tasks',
    action: entry.action ?? 'update',
    severity: entry.severity ?? 'LOW',
    entity_type: entry.entity_type ?? 'task',
    entity_id: entry.entity_id ?? 'k1',
    details: entry.details ?? {},
  };
  await db.raw('select record_change(?::jsonb, ?::jsonb)', [JSON.stringify(who), JSON.stringify(change)]);
  return id;
}

/** Writes many entries of a team, a thousand a statement. Those of one statement have the same time. */
export async function writeMany({ services: { db } }: Pick<TestApp, 'services'>, team_id: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1_000) {
    await db.raw(
      /* sql */ `
      select record_changes(jsonb_build_object('request_id', uuidv7(), 'correlation_id', uuidv7(), 'actor_type', 'user', 'user_id', uuidv7()),
        array_agg(make_change(team_id => ?::uuid, feature => 'teams', action => 'update', entity_type => 'team', entity_id => 'k' || n,
          details => jsonb_build_object('title', 'Zoë ' || n)))) from generate_series(1, ?::int) n`,
      [team_id, Math.min(left, 1_000)],
    );
  }
}

/** The hash of an entry, from nothing but what the API returned. */
export const hashOfEntry = (entry: Entry): string =>
  createHash('sha256')
    .update(
      canonicalForm(
        { ...entry, details: entry.details_text } as unknown as StoredEntry,
        entry.sequence,
        Buffer.from(entry.prev_hash, 'hex'),
      ),
    )
    .digest('hex');

/** Returns the address of a path with these parameters. */
export const withQuery = (path: string, query: Record<string, string>): string =>
  `${path}?${new URLSearchParams(query).toString()}`;
