import { v7 as uuidv7 } from 'uuid';
import { composeRequest } from '../../api/gate/requests/create/compose-request.js';
import { canonicalJson, computeHash, hashText } from '../../api/gate/staging/canonical.js';
import type { Subject } from './subjects.js';
import type { Tenant, World } from './world.js';

interface Wish {
  tenant: Tenant;
  author: string;
}
type Build = (world: World, wish: Wish) => Promise<Subject>;

/** Arguments that an approver may edit. */
export const EDITED = { version: '2' };

/** A change request of the author, as people and time have left it. */
const requestAs =
  (status: 'pending' | 'approved' | 'redeemed', executor: 'requester' | 'assent' = 'requester'): Build =>
  async (world, { tenant, author }) => {
    const id = uuidv7();
    const canary = `canary ${id}`;
    const { canonical, hash, operationHashes, placeHashes, systems } = composeRequest({
      v: 1,
      request_id: id,
      revision: 1,
      team_id: tenant.team_id,
      requested_by: author,
      token_id: null,
      source: 'api',
      title: canary,
      reason: null,
      operations: [{ system: 'payments', name: 'deploy', target: null, arguments: { version: '1' } }],
      requirement: { role: 'manager', approvals: 1, allow_self: false, code: false },
      executor,
      editable: ['/operations/0/arguments'],
      context: null,
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      use_within_seconds: 900,
    });
    const { db } = world.app.services;
    const soon = db.raw("now() + interval '1 hour'");
    await db('change_requests').insert({
      request_id: id,
      team_id: tenant.team_id,
      requested_by: author,
      source: 'api',
      executor,
      canonical,
      request_hash: hash,
      operation_hashes: operationHashes,
      place_hashes: placeHashes,
      systems,
      title: canary,
      self_ids: [author],
      required_role: 'manager',
      required_approvals: 1,
      allow_self: false,
      require_code: false,
      status,
      expires_at: soon,
      use_seconds: 900,
      correlation_id: id,
      ...(status !== 'pending' && { use_until: soon }),
      ...(status === 'redeemed' && {
        redemption_id: uuidv7(),
        redeemed_at: db.raw('now()'),
        redeemed_by: author,
        ended_at: db.raw('now()'),
        receipt_seconds: 300,
      }),
    });
    return {
      id,
      team_id: tenant.team_id,
      project_id: tenant.project_id,
      task_id: '',
      user_id: tenant.colleague.user_id,
      canary,
      hash: hashText(hash),
    };
  };

/** An MCP server of the team with a pinned tool; nothing listens at its address. */
const upstream: Build = async (world, { tenant, author }) => {
  const id = uuidv7();
  const canary = `canary-${id}`.slice(0, 40);
  const { db } = world.app.services;
  const definition = canonicalJson({ name: 'echo', description: canary, inputSchema: { type: 'object' } });
  const hash = computeHash('assent.tool.v1\n', definition);
  const url = 'http://127.0.0.1:1/';
  await db('mcp_upstreams').insert({
    upstream_id: id,
    team_id: tenant.team_id,
    slug: canary,
    url,
    headers: '{}',
    created_by: author,
  });
  await db('mcp_tools').insert({ upstream_id: id, name: 'echo', definition, tool_hash: hash, seen_hash: hash, state: 'pinned' });
  return {
    id,
    team_id: tenant.team_id,
    project_id: tenant.project_id,
    task_id: '',
    user_id: tenant.colleague.user_id,
    canary,
    hash: hashText(hash),
  };
};

export const requestSubjects = {
  upstream,
  pendingRequest: requestAs('pending'),
  approvedRequest: requestAs('approved'),
  redeemedRequest: requestAs('redeemed'),
  performedRequest: requestAs('redeemed', 'assent'),
};
