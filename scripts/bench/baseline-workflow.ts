import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

/** What the bare worker offers (floors.ts). */
export interface BaselineActivities {
  insertEffect(run: string, index: number): Promise<void>;
}

/**
 * `local`: local activities, started eagerly, which is how the product itself does it and the least that a durable run can cost.
 * `plain`: an ordinary activity each and an ordinary start, what Temporal's users write first.
 */
export type BaselineKind = 'local' | 'plain';

/** So many bare runs, so many at a time, each of so many inserts. */
export interface BaselineOrder {
  count: number;
  inFlight: number;
  /** Between two runs of one lane. */
  pauseMs: number;
  inserts: number;
  kind: BaselineKind;
}

const options = { startToCloseTimeout: '15 seconds' } as const;
const BY_KIND: Record<BaselineKind, BaselineActivities> = {
  local: proxyLocalActivities<BaselineActivities>(options),
  plain: proxyActivities<BaselineActivities>(options),
};

/** A run that does nothing but insert one row for each of its actions, each in an activity. */
export async function baselineRun(run: string, inserts: number, kind: BaselineKind): Promise<void> {
  for (let index = 0; index < inserts; index += 1) await BY_KIND[kind].insertEffect(run, index);
}
