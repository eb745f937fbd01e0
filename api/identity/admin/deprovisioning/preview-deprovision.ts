import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { previewDeprovisionStatement } from './preview-deprovision.sql.js';

/** Who would be deprovisioned, and what they would lose. */
export interface DeprovisionPreview extends Record<string, unknown> {
  user_id: string;
  email: string;
  display_name: string;
  status: 'active' | 'suspended' | 'deprovisioned';
  /** The job, where one was requested already. */
  job_id: string | null;
  teams: number;
  /** Names of the teams whose only admin is the user: they need a successor. */
  teams_without_admin: string[];
  open_tasks: number;
  automations: number;
  tokens: number;
  sessions: number;
  connections: number;
}

/** Returns what deprovisioning the user would do. It changes nothing. @throws RESOURCE_NOT_FOUND */
export async function previewDeprovision(ctx: Context, userId: string): Promise<DeprovisionPreview> {
  const [preview] = await run<DeprovisionPreview>(ctx.db, previewDeprovisionStatement, [userId]);
  if (!preview) throw notFound('User');
  return preview;
}
