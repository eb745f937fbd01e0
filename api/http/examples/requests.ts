import { ADA, AT, TEAM_ID } from './people.js';
import { EXPIRES_AT } from './runs.js';

/** Example responses about change requests. */

const REQUEST_ID = '019a9f00-0000-7000-8000-000000000051';
const HASH = 'sha256:3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea';
const OPERATION_HASH = 'sha256:7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a';

const operation = { system: 'payments', name: 'deploy', target: 'production', arguments: { version: '4.2' } };
const requirement = { role: 'manager', approvals: 1, allow_self: false, code: false };

const request = {
  request_id: REQUEST_ID,
  team_id: TEAM_ID,
  requested_by: ADA,
  token_id: null,
  source: 'api',
  title: 'Release 4.2',
  reason: 'The fix of the sign-in',
  operations: [operation],
  operation_hashes: [OPERATION_HASH],
  request_hash: HASH,
  revision: 1,
  executor: 'requester',
  editable: [],
  context: { commit: '5f3a1c9' },
  requirement,
  approvals_needed: 1,
  decisions: [],
  behind: [ADA],
  status: 'pending',
  closed_reason: null,
  seq: 1,
  created_at: AT,
  expires_at: EXPIRES_AT,
  use_within_seconds: 900,
  use_until: null,
  redeemed_at: null,
  redeemed_by: null,
  ended_at: null,
  outcome: null,
  earlier: [],
  approvers_missing: 0,
  can_decide: false,
  code: 'K7Q-M2D',
  url: `https://assent.example.com/app/approvals/request/${REQUEST_ID}`,
};

const upstream = {
  upstream_id: '019a9f00-0000-7000-8000-000000000053',
  team_id: TEAM_ID,
  slug: 'files',
  url: 'https://mcp.example.com/files',
  headers: { authorization: 'Bearer {{secret:FILES_TOKEN}}' },
  hold_seconds: 20,
  offers_tasks: false,
  is_active: true,
  checked_at: AT,
  created_by: ADA,
  created_at: AT,
  problem: null,
  tools: [
    {
      name: 'delete_file',
      policy: 'ask',
      state: 'pinned',
      definition: { name: 'delete_file', description: 'Deletes a file', inputSchema: { type: 'object' } },
      tool_hash: OPERATION_HASH,
      seen: null,
      seen_hash: null,
      pinned_by: ADA,
      pinned_at: AT,
    },
  ],
};

const rule = {
  rule_id: '019a9f00-0000-7000-8000-000000000052',
  system: 'payments',
  name: 'refund',
  target: '*',
  role: 'admin',
  approvals: 2,
  allow_self: null,
  require_code: false,
  is_denied: false,
  max_use_seconds: 300,
};

export const REQUESTS: Record<string, unknown> = {
  AskedOperation: { ...operation, summary: 'Installs version 4.2', risk: 'medium', reversible: true },
  EditedOperation: operation,
  ShownOperation: operation,
  ChangeRequest: request,
  ChangeRequests: { requests: [request], next_cursor: null },
  ApprovedRequest: { request_id: REQUEST_ID, status: 'approved', approvals_needed: 0, seq: 2 },
  RedeemedRequest: {
    operations: [operation],
    operation_texts: ['{"arguments":{"version":"4.2"},"name":"deploy","system":"payments","target":"production"}'],
    receipt: 'eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJodHRwczovL2Fzc2VudC5leGFtcGxlLmNvbSJ9.c2lnbmF0dXJl',
    request: {
      ...request,
      status: 'redeemed',
      seq: 3,
      approvals_needed: 0,
      use_until: EXPIRES_AT,
      redeemed_at: AT,
      redeemed_by: ADA,
      ended_at: AT,
    },
  },
  Upstream: upstream,
  DeletedUpstream: { success: true, upstream_id: upstream.upstream_id },
  RequestResult: { status: 'succeeded', result: '{"deployed":"4.2"}', is_cut: false },
  RequestRule: rule,
  RequestRules: { rules: [rule], version: 3 },
  TestedRequestRules: { rule, requirement: { ...requirement, role: 'admin', approvals: 2 } },
};
