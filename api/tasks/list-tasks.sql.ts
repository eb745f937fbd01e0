import type { Statement } from '../../db/statement.js';

/** Which tasks a list is about. */
export type Scope = 'project' | 'team' | 'visible' | 'mine';

const ORDER = 't.position nulls last, t.created_at, t.task_id';
/** Differs whenever anything wrote to the row, through whichever door; 64 bits. */
const MARK = 'hashtextextended(t.task_id, hashxidextended(t.xmin, 0))';
const LIVE = 't.deleted_at is null and ($2::text is null or t.status = $2)';

/** In every statement: $1 caller, $2 status or null, $3 most rows, and $4 the project or team where the scope has one. */
const PLACES: Record<Scope, string> = {
  project: `select m.role as seat from projects p left join memberships m on m.team_id = p.team_id and m.user_id = $1
    where p.project_id = $4 and p.deleted_at is null`,
  team: `select m.role as seat from memberships m where m.team_id = $4 and m.user_id = $1`,
  visible: `select 'guest' as seat`,
  mine: `select 'guest' as seat`,
};

const inOrder = (columns: string, where: string): string =>
  `select ${columns} from tasks t where ${where} and ${LIVE} order by ${ORDER} limit $3`;

/** Each team's tasks in order, of no team more than can be wanted, then the first of them all. */
function ofEveryTeam(columns: string, carried: string): string {
  const kept = `t.task_id, t.parent_task_id, t.position, t.created_at, ${MARK} as mark ${carried}`;
  return `
    select ${columns} from (
      select t.* from memberships m cross join lateral (${inOrder(kept, 't.team_id = m.team_id')}) t
      where m.user_id = $1 order by ${ORDER} limit $3
    ) t`;
}

const TASKS: Record<Exclude<Scope, 'visible'>, string> = {
  project: 't.project_id = $4 and place.seat is not null',
  team: 't.team_id = $4',
  // Not `exists`, which the planner would turn into a join and so lose the order of the index.
  mine: 't.assigned_to = $1 and (select true from memberships m where m.team_id = t.team_id and m.user_id = $1)',
};

/** One row without a task: the place is there and empty. No row: there is no such place. */
const withPlace = (scope: Scope, columns: string, tasks: string): string =>
  `select place.seat, ${columns} from (${PLACES[scope]}) place left join lateral (${tasks}) t on true`;

const marksOf = (scope: Scope): string =>
  scope === 'visible'
    ? ofEveryTeam('t.task_id, t.parent_task_id, t.mark', '')
    : inOrder(`t.task_id, t.parent_task_id, ${MARK} as mark`, TASKS[scope]);

const recordsOf = (scope: Scope): string =>
  scope === 'visible'
    ? ofEveryTeam('t.task_id, t.parent_task_id, t.mark, task_json(t.task)::text as json', ', t as task')
    : inOrder(`t.task_id, t.parent_task_id, ${MARK} as mark, task_json(t)::text as json`, TASKS[scope]);

interface ListStatements {
  /** The records themselves, for lists that fit into one answer. */
  records: Statement;
  /** Only which tasks there are, and their marks. */
  marks: Statement;
  /** Only a number that changes with any of them. */
  fingerprint: Statement;
}

function statementsOf(scope: Scope): ListStatements {
  const fingerprint = `select count(*) as count, bit_xor(t.mark)::text as mark from (${marksOf(scope)}) t`;
  return {
    records: {
      name: `list_tasks_${scope}`,
      text: withPlace(scope, 't.task_id, t.parent_task_id, t.mark::text as mark, t.json', recordsOf(scope)),
    },
    marks: {
      name: `list_task_marks_${scope}`,
      text: withPlace(scope, 't.task_id, t.parent_task_id, t.mark::text as mark', marksOf(scope)),
    },
    fingerprint: { name: `fingerprint_tasks_${scope}`, text: withPlace(scope, 't.count, t.mark', fingerprint) },
  };
}

export const listStatements: Record<Scope, ListStatements> = {
  project: statementsOf('project'),
  team: statementsOf('team'),
  visible: statementsOf('visible'),
  mine: statementsOf('mine'),
};

/**
 * $1 task ids, $2 caller: the records of those that are still there and still the caller's to read, in no order. Written so that
 * there is one way to run it, a probe an id and one for its seat (`limit 1`, no join with the seats): right after many tasks were
 * created the planner's statistics know nothing of them, and what it knows of seats is of the average person.
 */
export const recordsStatement: Statement = {
  name: 'task_records',
  text: /* sql */ `
    select wanted.task_id, t.json from unnest($1::text[]) as wanted(task_id)
    cross join lateral (
      select t.team_id, task_json(t)::text as json from tasks t where t.task_id = wanted.task_id and t.deleted_at is null limit 1
    ) t
    where (select true from memberships m where m.team_id = t.team_id and m.user_id = $2)`,
};
