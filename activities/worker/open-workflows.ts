import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../../workflows/search-attributes.js';

/** A workflow that Temporal lists as running. The list may be slightly behind. */
export interface OpenWorkflow {
  workflowId: string;
  runId: string;
  startTime: Date;
  memo?: Record<string, unknown> | undefined;
  attributes: TypedSearchAttributes;
}

/** Age in ms after which the list of workflows is assumed to contain a start. */
export const SETTLED_AFTER_MS = 10_000;

/** Lists the open workflows of a type on one task queue, by workflow id: one call per thousand. `since`: only those that started later. */
export async function listOpenWorkflows(
  client: Client,
  type: string,
  queue: string,
  since?: Date,
): Promise<Map<string, OpenWorkflow>> {
  const started = since ? ` and StartTime > '${since.toISOString()}'` : '';
  const query = `WorkflowType = '${type}' and ExecutionStatus = 'Running' and TaskQueue = '${queue}'${started}`;
  const found = new Map<string, OpenWorkflow>();
  for await (const listed of client.workflow.list({ query, pageSize: 1_000 })) {
    const { workflowId, runId, startTime, memo, typedSearchAttributes: attributes } = listed;
    found.set(workflowId, { workflowId, runId, startTime, memo, attributes });
  }
  return found;
}

/** Returns false for a workflow without search attributes: the cluster had no slots for them when it started. */
export const hasAttributes = ({ attributes }: OpenWorkflow): boolean => attributes.get(ATTRIBUTE.Process) !== undefined;

/**
 * Returns true while a workflow of this id is open.
 * @throws the client's error if the server is unavailable
 */
export async function isWorkflowOpen(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
