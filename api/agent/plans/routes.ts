import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { confirmPlan } from './decisions/confirm-plan.js';
import { discardPlan } from './decisions/discard-plan.js';
import { editPlan } from './decisions/edit-plan.js';
import {
  ConfirmedAction,
  ConfirmPlan,
  DecidedPlan,
  EditedPlan,
  EditPlan,
  PlanParams,
  PlanRecord,
  UndonePlan,
} from './decisions/schema.js';
import { undoPlan } from './decisions/undo-plan.js';
import { getPlan } from './waiting/get-plan.js';
import { listPending } from './waiting/list-pending.js';
import { ListPending, PendingPlans } from './waiting/schema.js';

const tag = 'AI workspace';
const example = { session_id: '019a9f00-0000-7000-8000-000000000001', action_id: '019a9f00-0000-7000-8000-000000000002' };

const RULES =
  'All or nothing: a refused action refuses the call with its own code and `action_index`, and the plan stays staged. If a chosen target has changed, the plan is closed as stale (409 with `plan_status` and `stale`). A token cannot confirm what it has proposed.';

export const agentPlanRoutes: Endpoint[] = [
  endpoint({
    id: 'listPendingPlans',
    method: 'get',
    path: '/api/ai-workspace/agent/pending',
    tag,
    summary: 'List plans that wait for a confirmation',
    description: 'Plans of triage and automations in your teams, and of your own outside agents. Nearest end first.',
    ability: 'plan.read',
    scope: 'ai:chat',
    limit: 'ai_pending',
    query: ListPending,
    response: PendingPlans,
    pages: { cut: true, counted: true },
    handle: ({ ctx, query }) => listPending(ctx, query),
  }),
  endpoint({
    id: 'confirmPlan',
    method: 'post',
    path: '/api/ai-workspace/agent/confirm',
    tag,
    summary: 'Confirm or discard a plan',
    description: `Applies a staged plan as you, with your permissions now. ${RULES}`,
    ability: 'plan.decide',
    scope: 'ai:confirm',
    scopeEnforced: true,
    limit: 'ai_confirm',
    body: ConfirmPlan,
    response: DecidedPlan,
    errors: [404, 409, 410],
    example: { ...example, action_indexes: [0, 2] },
    handle: ({ ctx, body }) => (body.confirmed ? confirmPlan(ctx, body) : discardPlan(ctx, body)),
  }),
  endpoint({
    id: 'confirmAction',
    method: 'post',
    path: '/api/ai-workspace/actions/confirm',
    tag,
    summary: 'Confirm or discard a plan (deprecated)',
    description: `Use \`POST /api/ai-workspace/agent/confirm\`. ${RULES}`,
    deprecated: { since: '2026-11-22', sunset: '2027-06-30', successor: '/api/ai-workspace/agent/confirm' },
    ability: 'plan.decide',
    scope: 'ai:confirm',
    scopeEnforced: true,
    limit: 'ai_confirm_action',
    body: ConfirmPlan,
    response: ConfirmedAction,
    errors: [404, 409, 410],
    example,
    async handle({ ctx, body }) {
      const details = await (body.confirmed ? confirmPlan(ctx, body) : discardPlan(ctx, body));
      const { action_id, message } = details;
      return { success: true, action_id, message, details };
    },
  }),
  endpoint({
    id: 'getPlan',
    method: 'get',
    path: '/api/ai-workspace/agent/plans/:action_id',
    tag,
    summary: 'Get a plan',
    description: 'In any status: your own, or one of a team in which you may write.',
    ability: 'plan.read',
    scope: 'ai:chat',
    limit: 'ai_plan',
    params: PlanParams,
    response: PlanRecord,
    errors: [404],
    handle: ({ ctx, params }) => getPlan(ctx, params.action_id),
  }),
  endpoint({
    id: 'editPlan',
    method: 'post',
    path: '/api/ai-workspace/agent/plans/:action_id/edit',
    tag,
    summary: 'Edit a staged plan',
    description:
      'Stages a copy with other parameters and closes the plan as superseded. Without changes it proposes the same again, on the values of now: what no longer applies is `omitted`. The copy waits for a confirmation of its own; the editor may not confirm a team’s plan of high risk. Signed-in people only, no token.',
    ability: 'plan.edit',
    scope: 'ai:confirm',
    limit: 'ai_edit',
    params: PlanParams,
    body: EditPlan,
    response: EditedPlan,
    errors: [404, 409, 410],
    example: { plan_hash: 'sha256:0f', changes: [{ index: 0, params: { due_date: '2026-12-01' } }] },
    handle: ({ ctx, params, body }) => editPlan(ctx, params.action_id, body),
  }),
  endpoint({
    id: 'undoPlan',
    method: 'post',
    path: '/api/ai-workspace/agent/plans/:action_id/undo',
    tag,
    summary: 'Stage the plan that takes an applied one back',
    description: 'It waits for a confirmation of its own. A target that has changed since makes its action stale.',
    ability: 'plan.undo',
    scope: 'ai:confirm',
    scopeEnforced: true,
    limit: 'ai_undo',
    params: PlanParams,
    response: UndonePlan,
    errors: [404, 409],
    handle: ({ ctx, params }) => undoPlan(ctx, params.action_id),
  }),
];
