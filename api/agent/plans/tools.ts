import { z } from 'zod';
import { addComment } from '../../comments/add-comment.js';
import { deleteComment } from '../../comments/delete-comment.js';
import { AddComment } from '../../comments/schema.js';
import type { Context } from '../../core/context.js';
import { trashItem } from '../../items/trash-item.js';
import { createNote } from '../../notes/create-note.js';
import { CreateNote } from '../../notes/schema.js';
import { UpdateProject } from '../../projects/schema.js';
import { updateProject } from '../../projects/update-project.js';
import { createRelation } from '../../relations/create-relation.js';
import { deleteRelation } from '../../relations/delete-relation.js';
import { CreateRelation } from '../../relations/schema.js';
import { ChangeTaskStatus, CreateTask, UpdateTask } from '../../tasks/schema.js';
import { createTask } from '../../tasks/write/create-task.js';
import { restoreTask } from '../../tasks/write/restore-task.js';
import { trashTask } from '../../tasks/write/trash-task.js';
import { updateTask } from '../../tasks/write/update-task.js';
import type { PlanAction, Tool } from './schema.js';

type EntityType = PlanAction['entity_type'];

/** What one performed action leaves. */
export interface Performed {
  /** What it created. */
  made?: { entity_type: EntityType; entity_id: string };
  /** It found everything as wanted and wrote nothing. */
  unchanged?: boolean;
  /** Members whom a comment mentions. */
  mentions?: string[];
}

/** One kind of change: an ordinary operation, with the part of its input that a plan may choose. */
export interface ToolSpec<Params = never> {
  /** The operation's own schema, strict, without the target's id and `version`. */
  schema: z.ZodType<Params>;
  /** Kind of the target; of the created entity if there is no target. */
  entity: EntityType;
  /** Whether it creates its entity, so that there is no target. */
  creates: boolean;
  /** Fields that hold the id of an item and may name what another action creates. */
  references: readonly string[];
  perform: (ctx: Context, id: string, params: Params) => Promise<Performed>;
}

/** Drops the type of the parameters: the schema parses what `perform` gets. */
const tool = <Params>(spec: ToolSpec<Params>): ToolSpec => spec as unknown as ToolSpec;

const NONE = z.strictObject({});
const updates = <Params>(
  entity: EntityType,
  schema: z.ZodType<Params>,
  references: readonly string[],
  change: (ctx: Context, id: string, params: Params) => Promise<unknown>,
): ToolSpec =>
  tool<Params>({
    schema,
    entity,
    creates: false,
    references,
    perform: async (ctx, id, params) => {
      await change(ctx, id, params);
      return {};
    },
  });

/**
 * All kinds of changes. A plan may contain nothing else: each is an ordinary operation with its own checks, and none of them touches
 * members, secrets, tokens, automations, settings or plans.
 */
export const TOOL_TABLE: Readonly<Record<Tool, ToolSpec>> = {
  'task.create': tool({
    schema: CreateTask.omit({ task_id: true }).strict(),
    entity: 'task',
    creates: true,
    references: ['project_id', 'parent_task_id'],
    perform: async (ctx, _id, params) => {
      const { taskId } = await createTask(ctx, params);
      return { made: { entity_type: 'task', entity_id: taskId } };
    },
  }),
  'task.update': updates('task', UpdateTask.omit({ version: true }).strict(), ['project_id', 'parent_task_id'], updateTask),
  'task.set_status': updates('task', ChangeTaskStatus.omit({ version: true }).strict(), [], updateTask),
  'task.assign': updates('task', UpdateTask.pick({ assigned_to: true }).required().strict(), [], updateTask),
  'task.comment': tool({
    schema: AddComment.strict(),
    entity: 'task',
    creates: false,
    references: [],
    perform: async (ctx, id, params) => {
      const { comment_id, mentions } = await addComment(ctx, id, params);
      return { made: { entity_type: 'comment', entity_id: comment_id }, mentions };
    },
  }),
  'task.delete': updates('task', NONE, [], trashTask),
  'project.update': updates('project', UpdateProject.omit({ team_id: true }).strict(), [], updateProject),
  'relation.create': tool({
    schema: CreateRelation.strict(),
    entity: 'relation',
    creates: true,
    references: ['source_id', 'target_id'],
    perform: async (ctx, _id, params) => {
      const { created, relation } = await createRelation(ctx, params);
      return { made: { entity_type: 'relation', entity_id: relation.relation_id }, unchanged: !created };
    },
  }),
  'relation.delete': updates('relation', NONE, [], deleteRelation),
  'note.create': tool({
    schema: CreateNote.strict(),
    entity: 'note',
    creates: true,
    references: ['project_id'],
    perform: async (ctx, _id, params) => {
      const { note_id } = await createNote(ctx, params);
      return { made: { entity_type: 'note', entity_id: note_id } };
    },
  }),
  'task.restore': updates('task', NONE, [], restoreTask),
  'comment.delete': updates('comment', NONE, [], deleteComment),
  'note.delete': updates('note', NONE, [], (ctx, id) => trashItem(ctx, id, 'note')),
};
