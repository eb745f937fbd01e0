import { z } from 'zod';
import { takeOver } from '../../../automation/definitions/ownership/take-over.js';
import { AutomationParams } from '../../../automation/definitions/schema.js';
import { page, type Page } from '../../page.js';
import { safePath } from '../../server/safe-path.js';

/** Version that the user saw, and the page to return to. */
const form = z.object({
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform(Number),
  back: z.unknown().transform(safePath),
});

export const automationPages: Page[] = [
  page({
    method: 'post',
    path: '/app/automations/:automation_id/take-over',
    access: 'automation.take_over',
    params: AutomationParams,
    form,
    async handle({ ctx, params, form: { version, back } }) {
      const { name, is_active } = await takeOver(ctx, params.automation_id, { version });
      const next = is_active ? '' : ' It stays disabled until it is enabled.';
      return { to: back, notice: { kind: 'good', text: `You are now the creator of ${name}.${next}` } };
    },
    onError: ({ form: given }, { message }) =>
      Promise.resolve({ to: safePath(given['back']), notice: { kind: 'bad', text: message } }),
  }),
];
