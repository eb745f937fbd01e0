import { z } from 'zod';
import { StrictInt } from '../../../platform/fields.js';
import { byCursor } from '../../../platform/endpoint/pages.js';
import { PlanRecord } from '../decisions/schema.js';

export const ListPending = z.object(byCursor('action_id', StrictInt(1, 200, 50)));
export type ListPending = z.output<typeof ListPending>;

const {
  session_id,
  action_id,
  summary,
  actions,
  plan_hash,
  source,
  team_id,
  project_id,
  trigger,
  risk,
  created_at,
  expires_at,
  stale,
  undo_of,
} = PlanRecord.shape;

/** A staged plan that no conversation shows. */
export const PendingPlan = z
  .object({
    session_id,
    action_id,
    summary,
    actions,
    plan_hash,
    source,
    team_id,
    project_id,
    trigger,
    risk,
    stale,
    undo_of,
    session_title: z.string().nullable().meta({ description: 'For an outside agent, the name of its token' }),
    note: z.string().nullable().meta({ description: 'What the agent said, at most 500 characters; not checked by anyone' }),
    can_confirm: z.boolean().meta({ description: 'You have the role for the whole plan, and your token did not propose it' }),
    created_at,
    expires_at,
  })
  .meta({ id: 'PendingPlan' });
export type PendingPlan = z.output<typeof PendingPlan>;

export const PendingPlans = z.object({ pending: z.array(PendingPlan), total: z.int() }).meta({ id: 'PendingPlans' });
export type PendingPlans = z.output<typeof PendingPlans>;
