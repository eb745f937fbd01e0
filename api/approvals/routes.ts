import { z } from 'zod';
import { type Endpoint, endpoint } from '../platform/endpoint/endpoint.js';
import { decideMany } from './decide-many.js';
import { getDecision } from './get-decision.js';
import { pageOfDecided } from './list-decided.js';
import { pageOfDecisions } from './list-decisions.js';
import { readFigures } from './read-figures.js';
import {
  Decided,
  DecidedMany,
  DecideMany,
  Decision,
  DecisionFigures,
  DecisionParams,
  ListDecided,
  ListDecisions,
  ReadFigures,
} from './schema.js';

const tag = 'Approvals';

export const decisionRoutes: Endpoint[] = [
  endpoint({
    id: 'listDecisions',
    method: 'get',
    path: '/api/approvals',
    tag,
    summary: 'List what waits for a decision',
    description:
      'Gates of your teams and personal automations, plans and change requests of your teams, and your own plans, nearest deadline first. Each shows its actions in words, with old and new values.',
    ability: 'automation.list',
    scope: 'automations:read',
    query: ListDecisions,
    response: z.array(Decision),
    pages: { cut: true },
    handle: ({ ctx, query }) => pageOfDecisions(ctx, query),
  }),
  endpoint({
    id: 'listDecided',
    method: 'get',
    path: '/api/approvals/decided',
    tag,
    summary: 'List what was decided',
    description:
      'Gates, plans and change requests that ended, newest first, as far as you may read today what they were about: who decided, what, when, and what came of it. Kept for 13 months. A page examines a bounded part of the list: it may be short, or empty, and still have a next one.',
    ability: 'automation.list',
    scope: 'automations:read',
    query: ListDecided,
    response: z.array(Decided),
    pages: { cut: true },
    handle: ({ ctx, query }) => pageOfDecided(ctx, query),
  }),
  endpoint({
    id: 'readDecisionFigures',
    method: 'get',
    path: '/api/approvals/figures',
    tag,
    summary: 'Read how long decisions wait',
    description: 'What ended in a span of at most a year, kept for 13 months: how many, how, and how long people took.',
    ability: 'automation.list',
    scope: 'automations:read',
    query: ReadFigures,
    response: DecisionFigures,
    handle: ({ ctx, query }) => readFigures(ctx, query),
  }),
  endpoint({
    id: 'getDecision',
    method: 'get',
    path: '/api/approvals/:kind/:id',
    tag,
    summary: 'Get a decision',
    ability: 'automation.read',
    scope: 'automations:read',
    params: DecisionParams,
    response: Decision,
    errors: [404],
    handle: ({ ctx, params }) => getDecision(ctx, params.kind, params.id),
  }),
  endpoint({
    id: 'decideMany',
    method: 'post',
    path: '/api/approvals/decide',
    tag,
    summary: 'Decide many gates, plans and change requests',
    description:
      'In the given order. `each`: an item that is refused leaves the others, and its result says why. `all`: gates and requests only; the first refusal rolls all back. What is of high risk, has changed since it was staged, or needs several approvals is approved by itself only (`decide_singly`); a rejection takes any. A token needs `approvals:decide` for gates, the same by name for requests, and `ai:confirm` for plans.',
    ability: 'gate.decide',
    scope: 'approvals:decide',
    limit: 'approvals_decide',
    body: DecideMany,
    response: DecidedMany,
    errors: [404, 409, 410],
    example: {
      decision: 'approve',
      items: [{ kind: 'gate', id: '019a9f00-0000-7000-8000-000000000003', staged_hash: 'sha256:0f' }],
    },
    handle: ({ ctx, body }) => decideMany(ctx, body),
  }),
];
