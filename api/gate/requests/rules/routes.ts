import { type Endpoint, endpoint, Reply } from '../../../platform/endpoint/endpoint.js';
import { expectedVersion, replyUnlessKnown, versionEtag } from '../../../platform/endpoint/etags.js';
import { getRules, testRules } from './read-rules.js';
import { saveRules } from './save-rules.js';
import { RequestRules, RulesPath, SaveRequestRules, TestedRequestRules, TestRequestRules } from './schema.js';

const common = { tag: 'Change requests', params: RulesPath, errors: [404] as [404] };

export const requestRuleRoutes: Endpoint[] = [
  endpoint({
    ...common,
    id: 'getRequestRules',
    method: 'get',
    path: '/api/teams/:team_id/request-rules',
    summary: 'Get the rules of a team for change requests',
    ability: 'request_rule.read',
    scope: 'requests:read',
    scopeEnforced: true,
    response: RequestRules,
    etag: 'kept',
    handle: async ({ ctx, params, headers }) => {
      const rules = await getRules(ctx, params.team_id);
      return replyUnlessKnown(versionEtag(rules.version), headers['if-none-match'], rules);
    },
  }),
  endpoint({
    ...common,
    id: 'saveRequestRules',
    method: 'put',
    path: '/api/teams/:team_id/request-rules',
    summary: 'Replace the rules of a team for change requests',
    description:
      'The first rule whose patterns match an operation says who must approve it; without one, a manager who is not behind the request. Open requests keep what was required when they were made.',
    ability: 'request_rule.write',
    scope: 'admin:*',
    scopeEnforced: true,
    body: SaveRequestRules,
    response: RequestRules,
    errors: [404, 409],
    etag: 'change',
    example: { rules: [{ system: 'payments', name: 'refund', target: '*', role: 'admin', approvals: 2 }] },
    handle: async ({ ctx, params, body, headers }) => {
      const expected = expectedVersion('rules', headers['if-match'], null);
      const rules = await saveRules(ctx, params.team_id, body, expected);
      return new Reply(rules, { headers: { ETag: versionEtag(rules.version) } });
    },
  }),
  endpoint({
    ...common,
    id: 'testRequestRules',
    method: 'post',
    path: '/api/teams/:team_id/request-rules/test',
    summary: 'Say which rule holds for an operation',
    ability: 'request_rule.read',
    scope: 'requests:read',
    scopeEnforced: true,
    body: TestRequestRules,
    exactJson: true,
    response: TestedRequestRules,
    example: { operation: { system: 'payments', name: 'refund', target: 'order 4711', arguments: { amount: 820 } } },
    handle: ({ ctx, params, body }) => testRules(ctx, params.team_id, body.operation),
  }),
];
