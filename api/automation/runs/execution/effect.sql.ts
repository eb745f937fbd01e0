import { defineStatement, type Statement } from '../../../../db/statement.js';
import { forbidden } from '../../../platform/errors.js';
import type { Effect } from '../../../gate/contract/action-type.js';

type Kind = Effect['entity_type'];

/** Finds the entity that an action changed; $4 = its id as text. */
const ENTITIES: Record<Kind, string> = {
  task: 'tasks where task_id = $4::text',
  comment: 'comments where comment_id = ($4::text)::uuid',
  member: 'memberships where user_id = ($4::text)::uuid',
  note: 'items where item_id = $4::text',
  // Both ends: a relation also shows at its target.
  relation: `relations r where relation_id = ($4::text)::uuid and not exists (
    select from item_place p where p.item_id in (r.source_id, r.target_id) and p.team_id <> $6)`,
};

/**
 * Marks an action as succeeded: $1 = run id, $2 = index, $3 and $4 = entity type and id, $5 = output (jsonb). The unique effect
 * key allows this once (docs/decisions/automation.md#effect-keys).
 */
export const EFFECT = /* sql */ `effect as (
  insert into effects (run_id, action_index, entity_type, entity_id) values ($1, $2, $3, $4::text)
), done as (
  update run_actions set status = 'succeeded', error = null, finished_at = now(), output = $5::jsonb where run_id = $1 and index = $2
)`;

/** Returns the values of `EFFECT` and `sameTeamSql`, in order. */
export const effectValues = (
  { run_id, team_id }: { run_id: string; team_id: string | null },
  index: number,
  { entity_type, entity_id, output }: Effect,
): unknown[] => [run_id, index, entity_type, entity_id, JSON.stringify(output), team_id];

/** SQL that returns whether the entity is in the run's team, $6; always true for a personal run. */
const sameTeamSql = (kind: Kind): string =>
  `$6::uuid is null or exists (select from ${ENTITIES[kind]} and team_id = $6) as is_inside`;

/** Builds one statement per kind of entity; `text` receives the SQL that selects `is_inside`. */
export const perEntity = (name: string, text: (sameTeamSql: string) => string): Record<Kind, Statement> => {
  const kinds = Object.keys(ENTITIES) as Kind[];
  const statements = kinds.map((kind) => [kind, defineStatement({ name: `${name}_${kind}`, text: text(sameTeamSql(kind)) })]);
  return Object.fromEntries(statements) as Record<Kind, Statement>;
};

/** Error for an action on something of another team. */
export const outsideTeam = () => forbidden('A team automation can only act in its team');

/**
 * Rejects an effect outside the automation's team. The automation has its creator's rights, who may be in several teams, but
 * every manager of this team can edit it and an event can choose its target.
 * @throws FORBIDDEN, which rolls the action back
 */
export function assertSameTeam([row]: { is_inside?: boolean }[]): void {
  if (!row?.is_inside) throw outsideTeam();
}
