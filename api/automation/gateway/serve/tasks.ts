import type { Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { cancelRequest } from '../../../gate/requests/decide/cancel-request.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import { Id } from '../../../platform/fields.js';
import { type AskedRow, deliver, hasEnded, noteDelivery, pageOf, readAsked } from './asked-row.js';
import { type Gateway, toKnownError } from './gateway.js';

const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const POLL_MS = 5_000;
/** Results are kept for seven days after the end. */
const KEPT_MS = 604_800_000;
const TaskParams = z.object({ taskId: Id });

/** Returns a call that waits for a person as a task of the protocol. */
const toTask = ({ ctx }: Gateway, row: AskedRow, status: 'working' | 'completed' | 'cancelled') => ({
  taskId: row.request_id,
  status,
  createdAt: row.created_at.toISOString(),
  lastUpdatedAt: new Date().toISOString(),
  ttlMs: KEPT_MS,
  pollIntervalMs: POLL_MS,
  ...(status === 'working' && { statusMessage: `A person decides at ${pageOf(ctx, row.request_id)}` }),
});

/** A cancelled call has no result to deliver: the same call is a new one. */
async function toCancelled(gateway: Gateway, row: AskedRow) {
  await noteDelivery(gateway.ctx, row.request_id);
  return toTask(gateway, row, 'cancelled');
}

/** Returns the result of a call as a task that the client asks after by itself. @throws RESOURCE_NOT_FOUND */
export async function createTask(gateway: Gateway, requestId: string) {
  const row = await readAsked(gateway, requestId);
  const task = row.status === 'cancelled' ? await toCancelled(gateway, row) : toTask(gateway, row, 'working');
  return { resultType: 'task', ...task };
}

async function readTask(gateway: Gateway, requestId: string) {
  const row = await readAsked(gateway, requestId);
  if (row.status === 'cancelled') return toCancelled(gateway, row);
  if (!hasEnded(row)) return toTask(gateway, row, 'working');
  return { ...toTask(gateway, row, 'completed'), result: { resultType: 'complete', ...(await deliver(gateway.ctx, row)) } };
}

/** Takes a call back if it still waits. One that has ended stays as it is, which its state tells. */
async function cancelTask(gateway: Gateway, requestId: string): Promise<object> {
  await readAsked(gateway, requestId);
  await cancelRequest(gateway.ctx, requestId, null).catch((error: unknown) => {
    if (toDomainError(error).code !== 'RESOURCE_CONFLICT') throw error;
  });
  return {};
}

/** Answers what clients ask of tasks: their state, and to take them back. Errors are those of the protocol. */
export function serveTasks(server: Server, gateway: Gateway): void {
  const answer = (method: string, work: (gateway: Gateway, requestId: string) => Promise<object>): void =>
    server.setRequestHandler(method, { params: TaskParams }, async ({ taskId }) => {
      try {
        return (await work(gateway, taskId)) as never;
      } catch (thrown) {
        const { message, status } = toKnownError(gateway, thrown);
        throw Object.assign(new Error(message), { code: status >= 500 ? INTERNAL_ERROR : INVALID_PARAMS });
      }
    });
  answer('tasks/get', readTask);
  answer('tasks/cancel', cancelTask);
}
