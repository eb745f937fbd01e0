import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { getAutomation } from '../definitions/get-automation.js';
import type { HookRecord } from './schema.js';

interface HookRow extends Record<string, unknown> {
  automation_id: string;
  hook_id: string;
  is_signed: boolean;
  created_by: string;
  created_at: Date;
  calls: number;
  last_call_at: Date | null;
  last_refused_at: Date | null;
  last_refusal: string | null;
}

/** $1 = automation id. */
const readStatement = defineStatement({
  name: 'read_automation_hook',
  text: /* sql */ `
    select automation_id, hook_id, data_key is not null as is_signed, created_by, created_at, calls, last_call_at, last_refused_at, last_refusal
    from automation_hooks where automation_id = $1`,
});

/** Returns the address of an automation without its token, which nobody can read; undefined if it has none. Checks no permission. */
export async function findHook(ctx: Pick<Context, 'db'>, automationId: string): Promise<HookRecord | undefined> {
  const [row] = await run<HookRow>(ctx.db, readStatement, [automationId]);
  if (!row) return undefined;
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    last_call_at: row.last_call_at?.toISOString() ?? null,
    last_refused_at: row.last_refused_at?.toISOString() ?? null,
  };
}

/**
 * Returns what is known of the address of an automation that the caller may read.
 * @throws RESOURCE_NOT_FOUND no such automation, or it has no address | PERMISSION_DENIED
 */
export async function getHook(ctx: Context, automationId: string): Promise<HookRecord> {
  await getAutomation(ctx, automationId);
  const hook = await findHook(ctx, automationId);
  if (!hook) throw notFound('Address');
  return hook;
}
