import type { DeliveryDetail, DeliveryRecord } from '../schema.js';
import { deriveDeliveryId } from './delivery-id.js';

/** An attempt as the dispatcher stores it; `response` is absent where there was none. */
interface StoredAttempt {
  at: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  response?: string | null;
}

/** A delivery as the statements return it. */
export interface StoredDelivery extends Record<string, unknown> {
  event_id: string;
  event_type: string;
  status: DeliveryRecord['status'];
  next_attempt_at: Date | null;
  attempts: StoredAttempt[];
}

export type DeliveryRow = StoredDelivery & { webhook_id: string };

const listFields = ({ webhook_id, event_id, event_type, status, next_attempt_at }: DeliveryRow, isActive: boolean) => ({
  delivery_id: deriveDeliveryId(webhook_id, event_id),
  event_id,
  event_type,
  status,
  next_attempt_at: isActive ? (next_attempt_at?.toISOString() ?? null) : null,
});
const presentAttempt = ({ at, status_code, duration_ms, error }: StoredAttempt) => ({ at, status_code, duration_ms, error });

/** Converts a delivery for the API. A disabled endpoint has no next attempt. */
export const presentDelivery = (row: DeliveryRow, isActive: boolean): DeliveryRecord => ({
  ...listFields(row, isActive),
  attempts: row.attempts.map(presentAttempt),
});

/** The same with request and responses. */
export const presentDetail = (row: DeliveryRow & { request_body: string }, isActive: boolean): DeliveryDetail => ({
  ...listFields(row, isActive),
  attempts: row.attempts.map((attempt) => ({ ...presentAttempt(attempt), response: attempt.response ?? null })),
  request_body: row.request_body,
});
