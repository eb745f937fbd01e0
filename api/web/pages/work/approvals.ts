import { z } from 'zod';
import { describeRuns } from '../../../runs/describe-runs.js';
import { approveGate } from '../../../runs/approvals/approve-gate.js';
import { listApprovalsAfter } from '../../../runs/approvals/list-approvals.js';
import { rejectGate } from '../../../runs/approvals/reject-gate.js';
import { RunParams } from '../../../runs/schema.js';
import { Text } from '../../../core/fields.js';
import { namesIn, teamNamesOf } from '../../wording/names.js';
import { type Redirect, page, type Page, requireUser, type FormError } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { safePath } from '../../server/safe-path.js';
import { actionableApprovals } from './actionable-approvals.js';

/** Gates on a page after the first one, which holds as many as the navigation counts. */
const PAGE_SIZE = 50;

/** The last run of the page before; an invalid one leads to the first page. */
const Place = z.object({ after: z.uuid().optional().catch(undefined), live: z.unknown().optional() });

/** Gate index that the user saw, so the decision cannot apply to another gate; and the page to return to. */
const decision = {
  gate_index: z
    .string()
    .regex(/^\d{1,2}$/)
    .transform(Number),
  back: z
    .unknown()
    .optional()
    .transform((value) => (value === undefined ? '/app/approvals' : safePath(value))),
};

/** Redirects back and shows the error. */
const refused = ({ form }: { form: Fields }, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: decision.back.parse(form['back']), notice: { kind: 'bad', text: message } });

export const approvalPages: Page[] = [
  page({
    method: 'get',
    path: '/app/approvals',
    access: 'automation.list',
    query: Place,
    async handle({ ctx, me, pending, query: { after } }) {
      const { approvals, hasMore } = after === undefined ? pending : await listApprovalsAfter(ctx, PAGE_SIZE, after);
      const person = requireUser({ me });
      const [names, about] = await Promise.all([namesIn(ctx, person, approvals), describeRuns(ctx, approvals)]);
      const teamNames = teamNamesOf(person);
      const mine = actionableApprovals(person, approvals);
      const others = approvals.filter((one) => !mine.includes(one));
      const address = (run?: string) => (run === undefined ? '/app/approvals' : `/app/approvals?after=${run}`);
      const pages = {
        address: address(after),
        first: after && address(),
        next: hasMore ? address(approvals.at(-1)?.run_id) : undefined,
      };
      return { view: 'work/approvals', title: 'Approvals', data: { mine, others, names, about, teamNames, pages } };
    },
  }),
  page({
    method: 'post',
    path: '/app/runs/:run_id/approve',
    access: 'gate.decide',
    params: RunParams,
    form: z.object(decision),
    async handle({ ctx, params, form }) {
      const { approvals_needed } = await approveGate(ctx, params.run_id, form.gate_index);
      const text = approvals_needed === 0 ? 'Approved. The run continues.' : `Approved. Still needed: ${approvals_needed}.`;
      return { to: form.back, notice: { kind: 'good', text } };
    },
    onError: refused,
  }),
  page({
    method: 'post',
    path: '/app/runs/:run_id/reject',
    access: 'gate.decide',
    params: RunParams,
    form: z.object({ ...decision, reason: Text.trim().max(2000).optional() }),
    async handle({ ctx, params, form }) {
      await rejectGate(ctx, params.run_id, { gate_index: form.gate_index, reason: form.reason || null });
      return { to: form.back, notice: { kind: 'good', text: 'Rejected. Staged actions will not run.' } };
    },
    onError: refused,
  }),
];
