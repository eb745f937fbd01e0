import { z } from 'zod';
import { Text } from '../core/fields.js';
import type { ActionDescription } from './contract/action-type.js';

const describe = (type: string, label: string, params: z.ZodObject): ActionDescription => ({
  type,
  label,
  params,
  category: 'core',
});

/** Actions whose feature does not exist yet: listed with `available: false` and rejected when an automation is saved. */
export const PLANNED_ACTIONS: readonly ActionDescription[] = [
  describe(
    'dispatch_runner_job',
    'Run a job on a runner',
    z.object({ labels: z.array(z.string()), command: Text, timeout_minutes: z.int().min(1).optional() }),
  ),
];
