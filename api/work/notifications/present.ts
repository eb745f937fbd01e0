import type { Notification } from './schema.js';

export type NotificationRow = Omit<Notification, 'created_at' | 'read_at'> & { created_at: Date; read_at: Date | null };

export const presentNotification = (row: NotificationRow): Notification => ({
  ...row,
  created_at: row.created_at.toISOString(),
  read_at: row.read_at?.toISOString() ?? null,
  // Inside JSON, times have PostgreSQL's text format.
  gate: row.gate && { ...row.gate, decided_at: row.gate.decided_at && new Date(row.gate.decided_at).toISOString() },
});
