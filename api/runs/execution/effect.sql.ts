import type { Statement } from '../../../db/statement.js';
import { forbidden } from '../../core/errors.js';
import type { Effect } from '../../actions/action-type.js';

type Kind = Effect['entity_type'];

/** How what an action made is found; $4 is its id, as text. */
const ENTITIES: Record<Kind, string> = {
  task: 'tasks where task_id = $4::text',
  comment: 'comments where comment_id = ($4::text)::uuid',
  member: 'memberships where user_id = ($4::text)::uuid',
};

/**
 * Marks an action done: $1 run, $2 index, $3 and $4 the entity, $5 output (jsonb). The effect's key can be taken once (R4).
 */
export const EFFECT = /* sql */ `effect as (
  insert into effects (run_id, action_index, entity_type, entity_id) values ($1, $2, $3, $4::text)
), done as (
  update run_actions set status = 'succeeded', error = null, finished_at = now(), output = $5::jsonb where run_id = $1 and index = $2
)`;

/** The values of `EFFECT` and `sameTeamSql`, in their order. */
export const effectValues = (
  { run_id, team_id }: { run_id: string; team_id: string | null },
  index: number,
  { entity_type, entity_id, output }: Effect,
): unknown[] => [run_id, index, entity_type, entity_id, JSON.stringify(output), team_id];

/** Whether what an action made is of the run's team, or the run of none: $6 is the team. */
const sameTeamSql = (kind: Kind): string =>
  `$6::uuid is null or exists (select from ${ENTITIES[kind]} and team_id = $6) as is_inside`;

/** One statement for each kind of entity; `text` gets what says whether the action stayed inside, as `is_inside`. */
export const perEntity = (name: string, text: (sameTeamSql: string) => string): Record<Kind, Statement> => {
  const kinds = Object.keys(ENTITIES) as Kind[];
  const statements = kinds.map((kind) => [kind, { name: `${name}_${kind}`, text: text(sameTeamSql(kind)) }]);
  return Object.fromEntries(statements) as Record<Kind, Statement>;
};

/**
 * What a team's automation does stays in that team: it acts with its creator's rights, who may sit in other teams too, while every
 * manager of this one may change what it does, and an event may say on what.
 * @throws FORBIDDEN, which takes the action back, when the statement's row says that it did not
 */
export function assertSameTeam([row]: { is_inside?: boolean }[]): void {
  if (!row?.is_inside) throw forbidden('A team’s automation acts in that team only');
}
