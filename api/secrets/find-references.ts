import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';
import { secretHandles, typesNeeding } from '../actions/secret-handles.js';

interface Reference {
  automation_id: string;
  name: string;
}
interface Definition extends Reference, Record<string, unknown> {
  actions: { type: string; params?: unknown }[] | null;
}

/**
 * $1 = team id, $2 = the name as in JSON, and the action types that need it unnamed. Reads the current definitions, active or
 * not, and the unfinished actions of open runs, which keep the version they started with.
 */
const statement: Statement = {
  name: 'find_secret_references',
  text: /* sql */ `
with live as (select automation_id, name, actions, created_at from automations where team_id = $1 and deleted_at is null),
definitions as (
  select automation_id, name, actions, created_at from live
  union all
  select live.automation_id, live.name,
    (select jsonb_agg(v.actions->s.index) from run_actions s
     where s.run_id = r.run_id and s.status not in ('succeeded', 'failed', 'skipped')), live.created_at
  from automation_runs r join live using (automation_id)
  join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
  where r.finished_at is null
)
select automation_id, name, actions from definitions
where exists (select from unnest($2::text[]) needle where strpos(actions::text, needle) > 0)
order by created_at, automation_id`,
};

/**
 * Returns the automations of a team that would miss the secret: in their definition, or in the remaining actions of an open run.
 * Oldest first, each once.
 */
export async function findReferences(db: Knex, teamId: string, secret: string): Promise<Reference[]> {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const rows = await run<Definition>(db, statement, [teamId, [inJson, ...typesNeeding(secret)]]);
  const found = rows.filter(({ actions }) => secretHandles(actions ?? []).includes(secret));
  return [...new Map(found.map(({ automation_id, name }) => [automation_id, { automation_id, name }])).values()];
}
