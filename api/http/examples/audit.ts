import { ADA, AT, TEAM_ID } from './people.js';

const AUDIT_ID = '019aa2f4-8c7b-7d11-a6a3-5b2f8f0d4e10';
const EXPORT_ID = '019aa2f4-9f00-7a52-8d7e-3c1b2a4f6e21';
const HEAD = 'c2a7f3b1d4e5960718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f';

const details = '{"gate_index": 1}';
const entry = {
  audit_id: AUDIT_ID,
  sequence: 4211,
  correlation_id: AUDIT_ID,
  timestamp: '2026-11-20T17:51:02.123456',
  team_id: TEAM_ID,
  user_id: ADA,
  user_email: 'ada@demo.test',
  actor_type: 'pat',
  impersonator_id: null,
  token_id: '019a9f00-0000-7000-8000-000000000024',
  ip_address: '10.0.0.7',
  user_agent: 'curl/8',
  feature: 'approvals',
  action: 'approve',
  severity: 'MEDIUM',
  outcome: 'success',
  entity_type: 'automation_run',
  entity_id: '0197a1c0-77aa-7c3a-9f00-1f2e3d4c5b6a',
  details: JSON.parse(details) as unknown,
  details_text: details,
  prev_hash: '9f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
  entry_hash: HEAD,
};

/** Example responses of the audit log. */
export const AUDIT: Record<string, unknown> = {
  AuditEntry: entry,
  AuditPage: { entries: [entry], total: 4212, count: 1, limit: 1, offset: 1, skip: 1, has_more: true },
  AuditTrail: { correlation_id: AUDIT_ID, count: 1, entries: [entry] },
  AuditExport: {
    format: 'json',
    record_count: 1,
    exported_at: AT,
    audit_id: EXPORT_ID,
    filters: { feature: 'approvals' },
    chain: [{ team_id: TEAM_ID, first_sequence: 4211, last_sequence: 4211, head_hash: HEAD }],
    proof: {
      key_id: '5f0c9b7e21d4a836',
      signature: 'm3Qd0vYh5c0WZ4m1kq8m5a0vQ0b7yq3m2b5n1g7fJxkq1v9o8hXo3v7r2t6pLw5e4d3c2b1a0Z9Y8X7W6V5U4TA==',
    },
    data: [entry],
  },
  AuditStats: {
    team_id: TEAM_ID,
    days: 2,
    from_time: '2026-11-18T17:51:02.123000',
    to_time: '2026-11-20T17:51:02.123000',
    total: 3,
    by_feature: { tasks: 2, approvals: 1 },
    by_action: { update: 2, approve: 1 },
    by_severity: { LOW: 2, MEDIUM: 1 },
    by_user: [{ user_id: ADA, count: 3 }],
    by_day: [
      { date: '2026-11-18', count: 0 },
      { date: '2026-11-19', count: 2 },
      { date: '2026-11-20', count: 1 },
    ],
  },
  AuditVocabulary: {
    features: ['auth', 'tasks', 'approvals'],
    actions: ['create', 'update', 'approve'],
    severities: ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'],
  },
};
