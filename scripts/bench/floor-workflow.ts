import { proxyLocalActivities } from '@temporalio/workflow';

/** What the bare worker offers (floors.ts). */
export interface FloorActivities {
  insertEffect(run: string, index: number): Promise<void>;
}

/** So many bare runs, so many at a time, each of so many inserts. */
export interface FloorOrder {
  count: number;
  inFlight: number;
  /** Between two runs of one lane. */
  pauseMs: number;
  inserts: number;
}

const { insertEffect } = proxyLocalActivities<FloorActivities>({ startToCloseTimeout: '15 seconds' });

/** The least a durable run can be: for each of its actions one local activity that inserts one row. */
export async function floorRun(run: string, inserts: number): Promise<void> {
  for (let index = 0; index < inserts; index += 1) await insertEffect(run, index);
}
