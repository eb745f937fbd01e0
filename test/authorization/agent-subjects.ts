import { v7 as uuidv7 } from 'uuid';
import { confirmPlan } from '../../api/agent/plans/decisions/confirm-plan.js';
import { buildContext, staged } from '../factories/agent.js';
import { itemSubjects } from './item-subjects.js';
import type { Subject } from './subjects.js';
import type { Tenant, World } from './world.js';

interface Wish {
  tenant: Tenant;
  trashed: boolean;
  author: string;
}
type Build = (world: World, wish: Wish) => Promise<Subject>;

async function newSession(world: World, owner: string, title: string): Promise<string> {
  const session_id = uuidv7();
  await world.app.services.db('agent_sessions').insert({ session_id, kind: 'chat', owner_id: owner, title });
  return session_id;
}

/** A session of its author with a message. */
const agentSession: Build = async (world, { tenant, author }) => {
  const { team_id, project_id } = tenant;
  const canary = `canary ${uuidv7()}`;
  const id = await newSession(world, author, canary);
  await world.app.services.db('agent_messages').insert({ session_id: id, role: 'user', content: canary });
  return { id, session_id: id, team_id, project_id, task_id: '', user_id: author, canary };
};

/** Another person's session. */
const anothersAgentSession: Build = (world, wish) => agentSession(world, { ...wish, author: wish.tenant.colleague.user_id });

/** A note, and a session of the author in which it may be linked. */
const linkableNote: Build = async (world, wish) => ({
  ...(await itemSubjects.note(world, wish)),
  session_id: await newSession(world, wish.author, 'Links'),
});

/** A note that is linked in a session of the author. */
const linkedNote: Build = async (world, wish) => {
  const subject = await linkableNote(world, wish);
  const { id: item_id, session_id } = subject;
  await world.app.services.db('agent_links').insert({ session_id, item_type: 'note', item_id, linked_by: wish.author });
  return subject;
};

/** A staged plan that would change a task, in a session of its member or of its team. */
async function newPlan(world: World, tenant: Tenant, source: 'chat' | 'automation'): Promise<Subject> {
  const { db } = world.app.services;
  const { team_id, project_id, member } = tenant;
  const [session_id, task_id, canary] = [uuidv7(), uuidv7(), `canary ${uuidv7()}`];
  const owner = source === 'chat' ? { owner_id: member.user_id, team_id: null } : { owner_id: null, team_id };
  await db('agent_sessions').insert({ session_id, kind: source, title: canary, ...owner });
  await db('item_keys').insert({ item_id: task_id, item_type: 'task' });
  await db('tasks').insert({ task_id, project_id, team_id, title: canary, created_by: member.user_id });
  const actions = [{ tool: 'task.set_status' as const, entity_id: task_id, params: { status: 'in_review' } }];
  const plan = await staged(world.app, member, actions, { session: { session_id, ...owner }, source });
  return { id: plan.action_id, session_id, team_id, project_id, task_id, user_id: member.user_id, canary };
}

/** Gives a member's plan to its author, who may have lost the role since. */
async function giveTo(world: World, author: string, subject: Subject): Promise<Subject> {
  const { db } = world.app.services;
  await db('agent_plans').where({ action_id: subject.id }).update({ owner_id: author });
  await db('agent_sessions').where({ session_id: subject.session_id }).update({ owner_id: author });
  return { ...subject, user_id: author };
}

/** A staged plan of its author. */
const agentPlan: Build = async (world, { tenant, author }) => giveTo(world, author, await newPlan(world, tenant, 'chat'));
const anothersAgentPlan: Build = (world, wish) => agentPlan(world, { ...wish, author: wish.tenant.colleague.user_id });
/** A staged plan of the team. */
const teamPlan: Build = (world, { tenant }) => newPlan(world, tenant, 'automation');
/** An applied plan of its author. */
const appliedPlan: Build = async (world, { tenant, author }) => {
  const subject = await newPlan(world, tenant, 'chat');
  const input = { session_id: subject.session_id as string, action_id: subject.id, confirmed: true };
  await confirmPlan(buildContext(world.app, tenant.member), input);
  return giveTo(world, author, subject);
};

export const agentSubjects = {
  agentPlan,
  anothersAgentPlan,
  teamPlan,
  appliedPlan,
  agentSession,
  anothersAgentSession,
  linkableNote,
  linkedNote,
};
