import { z } from 'zod';
import { Text } from '../../platform/fields.js';
import { GATE, GATE_DEFAULTS, GATE_ROLES } from './rules.js';
import type { ActionDescription } from '../../gate/contract/action-type.js';

/** Maximum lifetime of a gate in seconds: 30 days (docs/decisions/gate.md#gate-expiry). */
const MAX_EXPIRY = 2_592_000;
/** Maximum length of a gate's message, before and after rendering. */
export const MAX_MESSAGE = 2_000;
const Seconds = z.int().min(1).max(MAX_EXPIRY);

const Params = z.object({
  role: z
    .enum(GATE_ROLES)
    .optional()
    .meta({ description: `Lowest role that may decide; ${GATE_DEFAULTS.role} when absent` }),
  message: Text.max(MAX_MESSAGE).optional().meta({ description: 'Question to the approvers' }),
  expires_in_seconds: Seconds.optional().meta({ description: `${GATE_DEFAULTS.expiresInSeconds} (72 hours) when absent` }),
  required_approvals: z.int().min(1).max(5).optional().meta({ description: 'Number of distinct approvers' }),
  allow_self_approval: z.boolean().optional().meta({ description: 'false: the users behind the run may not approve it' }),
  remind_after_seconds: Seconds.optional(),
  signed_in: z.boolean().optional().meta({ description: 'true: only a signed-in person decides, no token' }),
  if_unchanged: z.enum(['ask', 'skip']).optional().meta({
    description:
      '`skip`: actions that would change nothing when the gate opens are skipped, and nobody is asked where nothing else is left to do; `ask` when absent',
  }),
  if_changed: z.enum(['proceed', 'ask_again']).optional().meta({
    description:
      '`ask_again`: a change of a target after the approval opens the gate again, at most three times; `proceed` when absent',
  }),
});

/**
 * The gate. Has no `perform`: the run waits for a decision. Only its message may contain templates, so that an event cannot
 * choose the approvers.
 */
export const requireApproval: ActionDescription<z.output<typeof Params>> = {
  type: GATE,
  label: 'Wait for an approval',
  category: 'core',
  params: Params,
  templated: ['message'],
};
