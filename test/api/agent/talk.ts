/** Talks with the rules, on PostgreSQL, without Temporal. */
import { answerByRules } from '../../../api/agent/turns/answer-by-rules.js';
import { submitMessage } from '../../../api/agent/turns/submit-message.js';
import type { Actor } from '../../../api/platform/access/actor.js';
import { linkItem } from '../../../api/agent/sessions/link-item.js';
import { buildContext, buildSession } from '../../factories/agent.js';
import type { Person } from '../../factories/people.js';
import type { TestApp } from '../../support/app.js';

/** A linked item; a task by its id alone. */
type Link = string | { item_type: string; item_id: string };

export interface Said {
  content: string;
  mentions: { item_id: string; title: string; to_link?: string }[];
  actions: { tool: string; entity_id: string | null; params: Record<string, unknown> }[];
}

/** Makes the workers look alive, so that messages are taken. */
export async function pretendWorker(app: TestApp): Promise<void> {
  const row = { process: 'worker:test', seen_at: new Date(Date.now() + 600_000), details: JSON.stringify({ temporal: true }) };
  await app.services.db('heartbeats').insert(row).onConflict('process').merge();
}

/** Links what an answer asks to link, as its page does. */
export const linkOffered = (app: TestApp, person: Person, session_id: string, { mentions }: Said) =>
  Promise.all(
    mentions.flatMap(({ item_id, to_link }) =>
      to_link === undefined ? [] : linkItem(buildContext(app, person), session_id, { item_type: to_link as 'task', item_id }),
    ),
  );

/** A session with linked items; `say` returns the answer, what it names, and the changes of its plan. */
export async function talk(app: TestApp, person: Person, ...linked: Link[]) {
  const { db } = app.services;
  const { session_id } = await buildSession(app, person);
  const links = linked.map((link) => (typeof link === 'string' ? { item_type: 'task', item_id: link } : link));
  if (links.length > 0) await db('agent_links').insert(links.map((link) => ({ ...link, session_id, linked_by: person.user_id })));
  const say = async (message: string, actor?: Actor): Promise<Said> => {
    const ctx = buildContext(app, person);
    const { message_id: messageId } = await submitMessage(actor ? { ...ctx, actor } : ctx, { session_id, message });
    await answerByRules(app.services, { messageId, incarnation: 1, execution: 'first' });
    const { content, action_id, mentions } = await db('agent_messages').where({ answers: messageId }).first();
    const plan = action_id === null ? undefined : JSON.parse((await db('agent_plans').where({ action_id }).first()).canonical);
    return { content, mentions: mentions ?? [], actions: plan?.actions ?? [] };
  };
  return Object.assign(say, { session_id });
}
