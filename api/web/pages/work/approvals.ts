import { z } from 'zod';
import { confirmPlan } from '../../../agent/plans/decisions/confirm-plan.js';
import { discardPlan } from '../../../agent/plans/decisions/discard-plan.js';
import { PlanParams } from '../../../agent/plans/decisions/schema.js';
import { getPlanToDecide } from '../../../agent/plans/waiting/get-plan.js';
import { undoPlan } from '../../../agent/plans/decisions/undo-plan.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { decideMany } from '../../../approvals/decide-many.js';
import type { DecideResult } from '../../../approvals/schema.js';
import { approveGate } from '../../../automation/runs/approvals/approve-gate.js';
import { askAgain } from '../../../automation/runs/approvals/asking/ask-again.js';
import { getApproval } from '../../../automation/runs/approvals/list-approvals.js';
import { rejectGate } from '../../../automation/runs/approvals/reject-gate.js';
import { describeGate } from '../../../automation/runs/staging/describe-gates.js';
import { markNotifications } from '../../../work/notifications/mark-notifications.js';
import { getRun } from '../../../automation/runs/get-run.js';
import { RunParams } from '../../../automation/runs/schema.js';
import { Id, NO_ID, Text } from '../../../platform/fields.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';
import { type Redirect, page, type Page, requireUser, type FormError, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { safePath } from '../../server/safe-path.js';
import { proposeAgain } from '../agent/propose-again.js';
import { Hash, numbersIn, showGates, TickedIndexes } from '../agent/plan-lines.js';
import { QueueFilter, queueView } from './approval-queue.js';
import { buildCards } from './plan-queue.js';

/** Gate index that the user saw, so the decision cannot apply to another gate; their words; and the page to return to. */
const decision = {
  gate_index: z
    .string()
    .regex(/^\d{1,2}$/)
    .transform(Number),
  comment: Text.trim().max(2000).optional(),
  reason: Text.trim().max(2000).optional(),
  back: z
    .unknown()
    .optional()
    .transform((value) => (value === undefined ? '/app/approvals' : safePath(value))),
};

/** The words of a no: its reason, else what was typed as a comment. */
const reasonOf = ({ reason, comment }: { reason?: string | undefined; comment?: string | undefined }): string | null =>
  reason || comment || null;

/** What a ticked box of the queue names. */
const TickedItem = z
  .string()
  .regex(/^(gate|plan|request) [\da-f-]{36} sha256:[\da-f]{64}$/)
  .transform((text) => {
    const [kind, id, staged_hash] = text.split(' ') as ['gate' | 'plan' | 'request', string, string];
    return { kind, id, staged_hash };
  });
const Ticked = z.object({
  decision: z.enum(['approve', 'reject']),
  comment: decision.comment,
  reason: decision.reason,
  back: decision.back,
  item: z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((given) => [given].flat())
    .pipe(z.array(TickedItem).max(100)),
});

/** Says in one line what many decisions came to. */
function buildNotice(said: 'approve' | 'reject', results: readonly DecideResult[]): NonNullable<Redirect['notice']> {
  const refusals = results.filter(({ error_code }) => error_code !== undefined);
  const done = `${results.length - refusals.length} ${said === 'approve' ? 'approved' : 'rejected'}.`;
  const [first] = refusals;
  if (!first) return { kind: 'good', text: done };
  const more = refusals.length > 1 ? ` And ${refusals.length - 1} more.` : '';
  return { kind: 'bad', text: `${done} ${refusals.length} refused: ${first.message}.${more}` };
}

/** Redirects back and shows the error. */
const refused = ({ form }: { form: Fields }, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: decision.back.parse(form['back']), notice: { kind: 'bad', text: message } });

/** The page of one gate; of one that is decided, the run tells what happened. */
async function gateView(ctx: Context, me: User, runId: string): Promise<View | Redirect> {
  const gate = await getApproval(ctx, runId);
  if (!gate) return { to: `/app/runs/${(await getRun(ctx, runId)).run_id}` };
  if (!me.impersonated_by) await markNotifications(ctx, { run_id: runId });
  const [names, about, described] = await Promise.all([
    namesIn(ctx, me, [gate]),
    describeRuns(ctx, [gate]),
    describeGate(ctx, runId),
  ]);
  const numbers = await numbersIn(ctx, described?.lines ?? []);
  const data = {
    gate,
    names,
    about,
    numbers,
    described: showGates(described ? { [runId]: described } : {}),
    teamNames: mapTeamNames(me),
  };
  return { view: 'work/gate', title: gate.automation_name, data };
}

const OnePlan = z.object({ session_id: Id, action_id: Id, back: decision.back });

/** Redirects back to the plan and shows the error. */
const refusedPlan = ({ form }: { form: Fields }, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({
    to: `/app/approvals/plan/${Id.catch(NO_ID).parse(form['action_id'])}`,
    notice: { kind: 'bad', text: message },
  });

const planPages: Page[] = [
  page({
    method: 'get',
    path: '/app/approvals/plan/:action_id',
    access: 'plan.read',
    params: PlanParams,
    async handle({ ctx, me, params }) {
      const plan = await getPlanToDecide(ctx, params.action_id);
      const { cards } = await buildCards(ctx, requireUser({ me }), [plan]);
      const card = cards[plan.action_id];
      return { view: 'work/plan', title: plan.summary, data: { card, numbers: await numbersIn(ctx, card?.lines ?? []) } };
    },
  }),
  page({
    method: 'post',
    path: '/app/approvals/plans/confirm',
    access: 'plan.decide',
    limit: 'ai_confirm',
    form: OnePlan.extend({ plan_hash: Hash, seen_hash: Hash.optional(), index: TickedIndexes.optional() }),
    async handle({ ctx, form: { index, back: to, ...plan } }) {
      if (!index?.length) return { to, notice: { kind: 'bad', text: 'Tick at least one change.' } };
      const { message } = await confirmPlan(ctx, { ...plan, confirmed: true, action_indexes: index });
      return { to, notice: { kind: 'good', text: message } };
    },
    onError: refusedPlan,
  }),
  page({
    method: 'post',
    path: '/app/approvals/plans/discard',
    access: 'plan.decide',
    limit: 'ai_confirm',
    form: OnePlan.extend({ reason: decision.reason }),
    async handle({ ctx, form: { back: to, reason, ...plan } }) {
      const { message } = await discardPlan(ctx, { ...plan, comment: reason || null });
      return { to, notice: { kind: 'good', text: message } };
    },
    onError: refusedPlan,
  }),
  page({
    method: 'post',
    path: '/app/approvals/plans/propose-again',
    access: 'plan.edit',
    limit: 'ai_edit',
    form: OnePlan.pick({ action_id: true }).extend({ plan_hash: Hash }),
    async handle({ ctx, form }) {
      const { action_id, text } = await proposeAgain(ctx, form);
      return { to: `/app/approvals/plan/${action_id}`, notice: { kind: 'good', text } };
    },
    onError: refusedPlan,
  }),
  page({
    method: 'post',
    path: '/app/approvals/plans/undo',
    access: 'plan.undo',
    limit: 'ai_undo',
    form: OnePlan.pick({ action_id: true }),
    async handle({ ctx, form: { action_id } }) {
      const { action_id: undo } = await undoPlan(ctx, action_id);
      const text = 'A plan that takes the changes back waits for your confirmation.';
      return { to: `/app/approvals/plan/${undo}`, notice: { kind: 'good', text } };
    },
    onError: refusedPlan,
  }),
];

export const approvalPages: Page[] = [
  ...planPages,
  page({
    method: 'get',
    path: '/app/approvals/gate/:run_id',
    access: 'automation.read',
    params: RunParams,
    handle: ({ ctx, me, params }) => gateView(ctx, requireUser({ me }), params.run_id),
  }),
  page({
    method: 'get',
    path: '/app/approvals',
    access: 'automation.list',
    query: QueueFilter,
    handle: ({ ctx, me, query }) => queueView(ctx, requireUser({ me }), query),
  }),
  page({
    method: 'post',
    path: '/app/approvals/decide',
    access: 'gate.decide',
    limit: 'approvals_decide',
    form: Ticked,
    async handle({ ctx, form: { decision: said, item, back, ...words } }) {
      if (item.length === 0) return { to: back, notice: { kind: 'bad', text: 'Tick at least one.' } };
      const comment = said === 'reject' ? reasonOf(words) : words.comment;
      const { results } = await decideMany(ctx, { decision: said, comment, mode: 'each', items: item });
      return { to: back, notice: buildNotice(said, results) };
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/runs/:run_id/ask-again',
    access: 'automation.dispatch',
    limit: 'automation_dispatch',
    params: RunParams,
    async handle({ ctx, params }) {
      const { run_id } = await askAgain(ctx, params.run_id);
      return { to: `/app/approvals/gate/${run_id}`, notice: { kind: 'good', text: 'Asked again. The approvers are told.' } };
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/runs/:run_id/approve',
    access: 'gate.decide',
    params: RunParams,
    form: z.object({ ...decision, staged_hash: Hash, seen_hash: Hash }).omit({ reason: true }),
    async handle({ ctx, params, form: { back, ...seen } }) {
      const { approvals_needed } = await approveGate(ctx, params.run_id, seen);
      const text = approvals_needed === 0 ? 'Approved. The run continues.' : `Approved. Still needed: ${approvals_needed}.`;
      return { to: back, notice: { kind: 'good', text } };
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/runs/:run_id/reject',
    access: 'gate.decide',
    params: RunParams,
    form: z.object(decision),
    async handle({ ctx, params, form }) {
      await rejectGate(ctx, params.run_id, { gate_index: form.gate_index, reason: reasonOf(form) });
      return { to: form.back, notice: { kind: 'good', text: 'Rejected. Staged actions will not run.' } };
    },
    onError: refused,
  }),
];
