import { ROLES } from '../../../db/models/rules.js';

/** Roles that a gate can require, lowest first. */
export const GATE_ROLES = ROLES.filter((role) => role !== 'guest');
export type GateRole = (typeof GATE_ROLES)[number];
export const GATE_DEFAULTS = {
  role: 'manager' as GateRole,
  expiresInSeconds: 259_200,
  requiredApprovals: 1,
  allowSelfApproval: true,
};
/** Action type that only waits. */
export const DELAY = 'delay';

/**
 * Actions that run in our own database, for runs that an earlier version of the service started: those of today say of each step whether it is sent.
 * Histories depend on this list, so it never changes.
 */
export const LOCAL_BEFORE: readonly string[] = [
  'create_task',
  'update_task',
  'set_task_status',
  'assign_task',
  'add_comment',
  'create_note',
  'create_relation',
  'move_to_cycle',
  'notify',
  'delay',
];

/** Action type of a gate. */
export const GATE = 'require_approval';
