import { z } from 'zod';
import { deleteAutomation } from '../../../automation/definitions/delete-automation.js';
import { takeOver } from '../../../automation/definitions/ownership/take-over.js';
import { AutomationParams } from '../../../automation/definitions/schema.js';
import { toggleAutomation } from '../../../automation/definitions/toggle-automation.js';
import { rollBack } from '../../../automation/definitions/versions/roll-back.js';
import { type FormError, page, type Page, type Redirect } from '../../page.js';
import { safePath } from '../../server/safe-path.js';

/** A version as a form sends it. */
export const VersionField = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number);

/** Version that the user saw, and the page to return to. */
const takeOverForm = z.object({ version: VersionField, back: z.unknown().transform(safePath) });

export const automationPath = (automationId: string): string => `/app/automations/${encodeURIComponent(automationId)}`;

/** Redirects back to the automation and shows the error. */
export const bounced = ({ params }: { params: { automation_id: string } }, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: automationPath(params.automation_id), notice: { kind: 'bad', text: message } });

export const automationSwitchPages: Page[] = [
  page({
    method: 'post',
    path: '/app/automations/:automation_id/take-over',
    access: 'automation.take_over',
    params: AutomationParams,
    form: takeOverForm,
    async handle({ ctx, params, form: { version, back } }) {
      const { name, is_active } = await takeOver(ctx, params.automation_id, { version });
      const next = is_active ? '' : ' It stays disabled until it is enabled.';
      return { to: back, notice: { kind: 'good', text: `You are now the creator of ${name}.${next}` } };
    },
    onError: ({ form: given }, { message }) =>
      Promise.resolve({ to: safePath(given['back']), notice: { kind: 'bad', text: message } }),
  }),
  page({
    method: 'post',
    path: '/app/automations/:automation_id/toggle',
    access: 'automation.write',
    params: AutomationParams,
    // The state that the button names: a second click must not undo the first one.
    form: z.object({ state: z.enum(['on', 'off']), cancel_running: z.literal('yes').optional(), version: VersionField }),
    async handle({ ctx, params, form: { state, cancel_running, version } }) {
      const wanted = { is_active: state === 'on', cancel_running: cancel_running === 'yes', version };
      const { cancelled_runs } = await toggleAutomation(ctx, params.automation_id, wanted);
      const ended = cancelled_runs > 0 ? ` Cancelled runs: ${cancelled_runs}.` : '';
      const text = state === 'on' ? 'Enabled.' : `Disabled.${ended}`;
      return { to: automationPath(params.automation_id), notice: { kind: 'good', text } };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: '/app/automations/:automation_id/delete',
    access: 'automation.write',
    params: AutomationParams,
    async handle({ ctx, params }) {
      await deleteAutomation(ctx, params.automation_id);
      return { to: '/app/automations', notice: { kind: 'good', text: 'Deleted. Its runs stay readable.' } };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: '/app/automations/:automation_id/roll-back',
    access: 'automation.write',
    params: AutomationParams,
    form: z.object({ version: VersionField }),
    async handle({ ctx, params, form }) {
      const { version, restored_from } = await rollBack(ctx, params.automation_id, form);
      const text = `Version ${version} is version ${restored_from} again.`;
      return { to: automationPath(params.automation_id), notice: { kind: 'good', text } };
    },
    onError: bounced,
  }),
];
