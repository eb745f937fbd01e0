/** SQL: the users behind the due date of a task `t`; of an earlier version of the service, its creator. */
export const PEOPLE_OF_DUE = /* sql */ `case when t.due_set_by = '{}' then array[t.created_by] else t.due_set_by end`;

/**
 * SQL: `due_set_by` of a task `t` that a caller makes come due again, by reopening, unarchiving, restoring or moving it: the user who set the date,
 * and the caller with the users behind them.
 */
export const dueAgain = (caller: string): string => /* sql */ `case when t.due_date is null then '{}'
    else add_people(${PEOPLE_OF_DUE}, people_of_caller(${caller})) end`;

/** SQL: `due_set_by` of a task `t` that a caller changes to the row `wanted`. A new date is theirs alone. */
export const dueAfterUpdate = (wanted: string, caller: string): string => /* sql */ `case
      when ${wanted}.due_date is null then '{}'
      when ${wanted}.due_date is distinct from t.due_date then people_of_caller(${caller})
      when (t.status = 'done' and ${wanted}.status <> 'done') or (t.is_archived and not ${wanted}.is_archived)
        or ${wanted}.project_id <> t.project_id then ${dueAgain(caller)}
      else t.due_set_by end`;
