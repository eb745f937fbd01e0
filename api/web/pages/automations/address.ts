import { z } from 'zod';
import { makeAddress } from '../../../automation/hooks/make-address.js';
import { removeAddress } from '../../../automation/hooks/remove-address.js';
import { AutomationParams } from '../../../automation/definitions/schema.js';
import { page, type Page } from '../../page.js';
import { automationPath, bounced } from './switches.js';

/** The address that the form showed; empty for none. */
const AddressForm = z.object({
  replaces: z
    .union([z.uuid(), z.literal('')])
    .optional()
    .transform((id) => id || null),
  signed: z
    .literal('yes')
    .optional()
    .transform((signed) => signed === 'yes'),
});

export const addressPages: Page[] = [
  page({
    method: 'post',
    path: '/app/automations/:automation_id/address',
    access: 'automation.write',
    params: AutomationParams,
    form: AddressForm,
    /** The address is shown once, in this response: a redirect would have to store it. */
    async handle({ ctx, params: { automation_id }, form }) {
      const { url, secret } = await makeAddress(ctx, automation_id, form);
      const data = { url, secret, back: automationPath(automation_id), isReplaced: form.replaces !== null };
      return { view: 'automations/address', title: 'Address', data };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: '/app/automations/:automation_id/address/remove',
    access: 'automation.write',
    params: AutomationParams,
    async handle({ ctx, params: { automation_id } }) {
      await removeAddress(ctx, automation_id);
      return {
        to: automationPath(automation_id),
        notice: { kind: 'good', text: 'Removed. Calls of it start nothing any more.' },
      };
    },
    onError: bounced,
  }),
];
