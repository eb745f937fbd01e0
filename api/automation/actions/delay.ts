import { z } from 'zod';
import { DELAY } from './rules.js';
import type { ActionDescription } from '../../gate/contract/action-type.js';

/** Maximum delay in seconds: 30 days (docs/decisions/automation.md#longest-waits). */
const MAX_DELAY = 2_592_000;

const Params = z.object({ seconds: z.int().min(1).max(MAX_DELAY) });

/** Has no `perform`: the run itself waits. */
export const delay: ActionDescription<z.output<typeof Params>> = { type: DELAY, label: 'Wait', category: 'core', params: Params };
