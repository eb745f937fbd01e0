import { run, type Statement } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { Id, TaskId } from '../../platform/fields.js';
import { derivedEdge } from '../../work/relations/rules.js';
import {
  commentTargetStatement,
  nestingTargetStatement,
  noteTargetStatement,
  projectTargetStatement,
  relationTargetStatement,
  taskTargetStatement,
} from './read-target.sql.js';
import type { EntityType } from '../work-actions/action.js';

/** A row that an action reads or writes, at one moment. */
export interface Target extends Record<string, unknown> {
  /** The row as the API shows it. */
  record: Readonly<Record<string, unknown>>;
  title: string;
  team_id: string;
  project_id: string | null;
  /** Null where rows have no version. */
  version: number | null;
  in_trash: boolean;
  /** Live descendants of a task, if they were to be counted; at most one more than `MAX_DESCENDANTS`. */
  descendants: number;
  /** Of these, the ones that are not done. */
  open_descendants: number;
}

function statementFor(type: EntityType, id: string): [Statement, unknown[]] {
  const derived = type === 'relation' ? derivedEdge(id) : undefined;
  if (derived) return [nestingTargetStatement, [derived.of === 'nesting' ? derived.taskId : null]];
  const statements = {
    project: projectTargetStatement,
    relation: relationTargetStatement,
    comment: commentTargetStatement,
    note: noteTargetStatement,
  };
  return type === 'task' ? [taskTargetStatement, [TaskId.parse(id)]] : [statements[type], [Id.parse(id)]];
}

/**
 * Reads the target of an action, in the trash or not; undefined if there is none. Checks no permission: the operation does, in the same
 * transaction.
 * @param withTree counts the descendants of a task
 */
export async function readTarget(ctx: Context, type: EntityType, id: string, withTree = false): Promise<Target | undefined> {
  const [statement, values] = statementFor(type, id);
  const [row] = await run<Target>(ctx.db, statement, type === 'task' ? [values[0], withTree, requireUser(ctx)] : values);
  return row;
}
