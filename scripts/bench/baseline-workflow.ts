import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

/** Activities of the baseline worker (baselines.ts). */
export interface BaselineActivities {
  insertEffect(run: string, index: number): Promise<void>;
}

/**
 * `local`: local activities and eager start, as in the product; the minimum cost of a durable run. `plain`: ordinary activities and
 * an ordinary start, the usual first version.
 */
export type BaselineKind = 'local' | 'plain';

/** Number of baseline runs, concurrency, and inserts per run. */
export interface BaselineOrder {
  count: number;
  inFlight: number;
  /** Pause between two runs of one lane. */
  pauseMs: number;
  inserts: number;
  kind: BaselineKind;
}

const options = { startToCloseTimeout: '15 seconds' } as const;
const BY_KIND: Record<BaselineKind, BaselineActivities> = {
  local: proxyLocalActivities<BaselineActivities>(options),
  plain: proxyActivities<BaselineActivities>(options),
};

/** A run that only inserts one row per action, each in an activity. */
export async function baselineRun(run: string, inserts: number, kind: BaselineKind): Promise<void> {
  for (let index = 0; index < inserts; index += 1) await BY_KIND[kind].insertEffect(run, index);
}
