import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../../api/platform/context.js';
import { stagePlan } from '../../api/agent/plans/stage-plan.js';
import type { ProposedAction, Proposal, Staged } from '../../api/agent/plans/proposal.js';
import type { TestApp } from '../support/app.js';
import type { Person } from './people.js';

export interface TestSession {
  session_id: string;
  owner_id: string | null;
  team_id: string | null;
}

/** A session of a person, or of a team. */
export async function buildSession(
  app: TestApp,
  owner: { user_id: string } | { team_id: string },
  fields: Record<string, unknown> = {},
): Promise<TestSession> {
  const session_id = uuidv7();
  const owner_id = 'user_id' in owner ? owner.user_id : null;
  const team_id = 'team_id' in owner && owner_id === null ? (owner as { team_id: string }).team_id : null;
  const row = {
    session_id,
    kind: team_id === null ? 'chat' : 'overnight_triage',
    owner_id,
    team_id,
    title: 'New session',
    ...fields,
  };
  await app.services.db('agent_sessions').insert(row);
  return { session_id, owner_id, team_id };
}

/** The context in which this person's own request would run. */
export function buildContext(app: TestApp, person: Person): Context {
  const requestId = uuidv7();
  return {
    ...app.services,
    actor: { type: 'user', userId: person.user_id, email: person.email, role: 'user', sessionId: uuidv7(), impersonatorId: null },
    requestId,
    correlationId: requestId,
    ip: null,
    userAgent: null,
  };
}

/** Stages a plan as the product would for this person. */
export async function stage(
  app: TestApp,
  person: Person,
  actions: readonly ProposedAction[],
  { session, ...fields }: Partial<Proposal> = {},
): Promise<Staged> {
  return stagePlan(buildContext(app, person), {
    session: session ?? (await buildSession(app, { user_id: person.user_id })),
    source: 'chat',
    actions,
    lifeHours: 24,
    onRefusal: 'refuse',
    ...fields,
  });
}

/** Stages a plan of which something is left. */
export async function staged(...args: Parameters<typeof stage>): Promise<NonNullable<Staged['plan']>> {
  const { plan } = await stage(...args);
  if (!plan) throw new Error('nothing was left of the plan');
  return plan;
}
