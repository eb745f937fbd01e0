import { v7 as uuidv7 } from 'uuid';
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

export const agentSubjects = { agentSession, anothersAgentSession, linkableNote, linkedNote };
