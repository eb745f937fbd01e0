import type { PlanSource } from '../../gate/work-actions/action.js';
import { computeHash } from '../../gate/staging/canonical.js';
import type { PlanAction } from './schema.js';

/** Everything of a plan that a person sees and confirms. */
export interface PlanContent {
  v: 1;
  action_id: string;
  session_id: string;
  source: PlanSource;
  team_id: string | null;
  summary: string;
  /** As the API returns it, such as `2026-11-20T17:51:02.123Z`. */
  expires_at: string;
  actions: PlanAction[];
}

/** Returns the SHA-256 of a plan's canonical text, 32 bytes. */
export const planHash = (canonical: string): Buffer => computeHash('assent.plan.v1\n', canonical);

/** Reads a plan back from its stored text. */
export const readPlan = (canonical: string): PlanContent => JSON.parse(canonical) as PlanContent;
