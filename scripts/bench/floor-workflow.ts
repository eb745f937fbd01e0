import { proxyLocalActivities } from '@temporalio/workflow';

/** What the bare worker offers (floors.ts). */
export interface FloorActivities {
  insertEffect(run: string): Promise<void>;
}

const { insertEffect } = proxyLocalActivities<FloorActivities>({ startToCloseTimeout: '15 seconds' });

/** The least a durable run can be: one local activity that inserts one row. */
export const floorRun = (run: string): Promise<void> => insertEffect(run);
