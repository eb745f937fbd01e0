import type { z } from 'zod';
import type { Context } from '../../platform/context.js';
import type { DefaultedParam, Risk } from '../contract/action-type.js';

export const PLAN_SOURCES = ['chat', 'overnight_triage', 'ci_failure_triage', 'automation', 'mcp'] as const;
export type PlanSource = (typeof PLAN_SOURCES)[number];

/** Sources of plans that answer a user's request, other than the triages. */
export const REQUESTED = ['chat', 'automation', 'mcp'] as const satisfies readonly PlanSource[];

export const ENTITY_TYPES = ['task', 'project', 'relation', 'note', 'comment'] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

export type Fields = Readonly<Record<string, unknown>>;

/** What one performed action leaves. */
export interface Performed {
  /** What it created. */
  made?: { entity_type: EntityType; entity_id: string };
  /** It found everything as wanted and wrote nothing. */
  unchanged?: boolean;
  /** Members whom a comment mentions. */
  mentions?: string[];
  /** What the record of a run keeps: ids and numbers, without text of a user. */
  output?: Record<string, unknown>;
}

/** What the risk of an action depends on: the target's record before and after it, and facts around it. */
export interface Effect {
  before: Fields | null;
  after: Fields | null;
  /** Id of the user for whom it is staged. */
  userId: string;
  /** Live descendants of the target. */
  descendants: number;
  /** Of these, the ones that are not done. */
  openDescendants: number;
  /** Members whom a comment mentions. */
  mentions: number;
}

/** An applied action, as its inverse reads it. */
interface AppliedFields {
  entity_id: string | null;
  before: Fields | null;
  /** Id of what it created. */
  made_id: string | null;
}

/** What takes an applied action back: another action of the catalogue. */
interface Inverse {
  tool: string;
  entity_id?: string | null;
  params: Fields;
}

/** How automations use an action. */
interface InAutomations {
  type: string;
  label: string;
  /** Parameters that an automation may give; all by default. */
  picks?: readonly string[];
  defaulted?: readonly DefaultedParam[];
  /** Null is meaningful: it clears a field, or is rejected as in the API. */
  clears?: true;
  /** Adds what follows from the run. */
  complete?: (params: Fields, run: { team_id: string | null }) => Fields;
}

/** One kind of change: an ordinary operation, with the part of its input that a machine may choose. */
export interface WorkAction<Tool extends string = string, Params = never> {
  /** Its name in plans and over MCP. */
  tool: Tool;
  /** `create` has no target; `comment` has one and creates something beside it. */
  kind: 'create' | 'comment' | 'update' | 'remove' | 'restore';
  /** Kind of the target; of the created entity if there is no target. */
  entity: EntityType;
  /** The operation's own schema, strict, without the target's id and `version`. */
  schema: z.ZodType<Params> & Pick<z.ZodObject, 'shape'>;
  /** Fields that hold the id of an item and may name what another action creates. */
  references?: readonly string[];
  /** Sources whose plans may propose it. Those of no source only take another action back. */
  offered: readonly PlanSource[];
  /** `verb` heads its lines, `count` counts it in a summary, `proposal` tells a model what it does. */
  words: { verb: string; count: readonly [one: string, many: string]; proposal?: string };
  risk: Risk | ((effect: Effect) => Risk);
  /** Whether its undo takes back what it did; by default, unless it completes a recurring task. */
  isReversible?: (effect: Effect) => boolean;
  /** Returns what takes it back. Null: nothing does. */
  undo: ((action: AppliedFields) => Inverse | null) | null;
  automation?: InAutomations;
  /** Returns the parameters in which the team's own names are ids, so that what is staged says exactly what is done. @throws VALIDATION_ERROR no such name */
  resolve?: (ctx: Context, id: string, params: Params) => Promise<Fields>;
  /** @param id of the target; empty for a creation @throws the errors of the operation */
  perform: (ctx: Context, id: string, params: Params) => Promise<Performed>;
}

/** Declares an action. Drops the type of its parameters: the schema parses what `perform` gets. */
export const defineAction = <Tool extends string, Params>(action: WorkAction<Tool, Params>): WorkAction<Tool> =>
  action as unknown as WorkAction<Tool>;
