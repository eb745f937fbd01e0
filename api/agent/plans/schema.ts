import { z } from 'zod';
import { ENTITY_TYPES } from '../../gate/work-actions/action.js';
import { RISKS } from '../../gate/contract/action-type.js';
import { TOOLS } from '../../gate/work-actions/catalogue.js';
import { Timestamp } from '../../platform/fields.js';

export const PLAN_STATUSES = ['staged', 'applied', 'discarded', 'stale', 'expired'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

export const MAX_ACTIONS = 50;
export const MAX_PLAN_BYTES = 262_144;

const Facts = z.record(z.string(), z.unknown());

/** One change of a plan, as it is shown, hashed and executed. */
export const PlanAction = z
  .object({
    index: z.int(),
    tool: z.enum(TOOLS),
    entity_type: z.enum(ENTITY_TYPES),
    entity_id: z.string().nullable().meta({ description: 'Null for what the action creates' }),
    title: z.string().meta({ description: 'Title of the target, or of what is created' }),
    params: Facts.meta({ description: '`"$k"` in an id refers to what action k creates' }),
    before: Facts.nullable().meta({ description: 'The fields that change, as they are; null for a creation' }),
    after: Facts.nullable().meta({
      description: 'The same fields after the action, and its side effects; null if there are none',
    }),
    risk: z.enum(RISKS),
    reversible: z.boolean().meta({ description: 'An undo can take it back' }),
    expected_version: z.int().nullable().meta({ description: 'Version of the target; another one makes the plan stale' }),
    needs: z.array(z.int()).meta({ description: 'Indexes of the actions that it cannot do without' }),
  })
  .meta({ id: 'PlanAction' });
export type PlanAction = z.output<typeof PlanAction>;

/** A staged plan in an answer of the agent. */
export const ActionPlan = z
  .object({
    action_id: z.string(),
    summary: z.string(),
    actions: z.array(PlanAction),
    plan_hash: z.string().meta({ description: '`sha256:` and 64 hexadecimal digits of what would be executed' }),
    expires_at: Timestamp,
  })
  .meta({ id: 'ActionPlan' });
export type ActionPlan = z.output<typeof ActionPlan>;
